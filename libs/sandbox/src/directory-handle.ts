import fs from 'node:fs';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_RDONLY } = fs.constants;
/** Linux's O_PATH, which Node does not name: a handle on the thing itself, without opening it. */
const O_PATH = 0o10000000;
const closed = -1;

/** A name that comes back from the disk is bytes: Linux asks of it only that it holds no slash and no NUL. */
export type MemberName = string | Buffer;

/**
 * An open directory. Its members are reached as `/proc/self/fd/<n>/<name>`, one name at a time and never through a
 * symbolic link, so that what was looked at is what is worked on, whatever a container does to the tree meanwhile.
 * Errors are node's, with their `code`: ENOENT, ENOTDIR or ELOOP for a link where a directory was expected.
 */
export class DirectoryHandle implements Disposable {
  #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** `path` must be one that no sandbox can change, down to its last component. */
  static openTrusted(path: string): DirectoryHandle {
    return new DirectoryHandle(fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  }

  openDirectory(name: MemberName): DirectoryHandle {
    return new DirectoryHandle(fs.openSync(this.memberPath(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  }

  duplicate(): DirectoryHandle {
    return new DirectoryHandle(fs.openSync(this.selfPath, O_RDONLY | O_DIRECTORY));
  }

  /** Opens a member for reading without waiting for the other end of a pipe. The caller checks what kind it is. */
  openFile(name: MemberName): number {
    return fs.openSync(this.memberPath(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  }

  /** Facts of a member itself, never of what a link points to; undefined when there is none. */
  stat(name: MemberName): fs.Stats | undefined {
    return fs.lstatSync(this.memberPath(name), { throwIfNoEntry: false });
  }

  statSelf(): fs.Stats {
    return fs.fstatSync(this.#fd);
  }

  readLink(name: MemberName): string {
    return fs.readlinkSync(this.memberPath(name));
  }

  /** Names of members in the order of the file system, read as they are asked for: a directory may have millions. */
  *members(): Generator<Buffer> {
    // The types of opendir know neither the encoding 'buffer' nor that names are buffers then.
    const directory = fs.opendirSync(this.selfPath, { encoding: 'buffer' as BufferEncoding, bufferSize: 512 });
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
        yield (entry as unknown as fs.Dirent<Buffer>).name;
      }
    } finally {
      directory.closeSync();
    }
  }

  makeDirectory(name: MemberName): void {
    fs.mkdirSync(this.memberPath(name), 0o755);
  }

  /** Gives a member directory back to its owner's use, for a service that is that owner and not root. */
  unlock(name: MemberName): void {
    const fd = fs.openSync(this.memberPath(name), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    try {
      fs.chmodSync(`/proc/self/fd/${fd}`, 0o700);
    } finally {
      fs.closeSync(fd);
    }
  }

  chown(user: { readonly uid: number; readonly gid: number }): void {
    fs.fchownSync(this.#fd, user.uid, user.gid);
  }

  unlink(name: MemberName): void {
    fs.unlinkSync(this.memberPath(name));
  }

  removeDirectory(name: MemberName): void {
    fs.rmdirSync(this.memberPath(name));
  }

  /** Moves a member over `toName` in the other directory; a link that stands there is replaced, not followed. */
  rename(name: MemberName, to: DirectoryHandle, toName: string): void {
    fs.renameSync(this.memberPath(name), to.memberPath(toName));
  }

  memberPath(name: MemberName): Buffer {
    const bytes = Buffer.from(name);
    const text = bytes.toString('latin1');
    if (text === '' || text === '.' || text === '..' || text.includes('/') || text.includes('\0')) {
      throw new TypeError(`${JSON.stringify(name.toString())} is not the name of one member of a directory`);
    }
    return Buffer.concat([Buffer.from(`${this.selfPath}/`), bytes]);
  }

  /** Good while this handle is open, in this process. */
  get selfPath(): string {
    return `/proc/self/fd/${this.#fd}`;
  }

  [Symbol.dispose](): void {
    if (this.#fd === closed) return;
    fs.closeSync(this.#fd);
    // The number may soon name something else: a late use must find nothing.
    this.#fd = closed;
  }
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
