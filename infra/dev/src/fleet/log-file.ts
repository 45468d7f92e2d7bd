import { createWriteStream, fstatSync, openSync, renameSync, type WriteStream } from 'node:fs';

/** Of one file; with the older ones that are kept a log takes at most 80 MB. */
const limitBytes = 20_000_000;
const olderKept = 3;

/**
 * Appends lines to a file, which is for its owner alone. Full, it becomes `.1` and what was `.1` becomes `.2`, up to `.3`. A line that
 * cannot be written, above all since the disk is full, is lost: no log is worth the service that it is about. The next one that can be
 * written is preceded by how many were.
 */
export class LogFile {
  readonly #path: string;
  readonly #limitBytes: number;
  #stream: WriteStream | undefined;
  #bytes = 0;
  #lost = 0;

  constructor(path: string, limit = limitBytes) {
    this.#path = path;
    this.#limitBytes = limit;
  }

  write(line: string): void {
    if (this.#stream !== undefined && this.#bytes >= this.#limitBytes) this.#turn();
    const stream = (this.#stream ??= this.#open());
    if (stream === undefined) {
      this.#lost += 1;
      return;
    }
    const lost = this.#lost;
    this.#lost = 0;
    const text = lost === 0 ? line : `${JSON.stringify({ event: 'log_lines_lost', lines: lost })}\n${line}`;
    this.#bytes += Buffer.byteLength(text) + 1;
    stream.write(`${text}\n`, (error) => {
      if (error) this.#lost += lost + 1;
    });
  }

  close(): void {
    this.#stream?.end();
  }

  /** Lines that are still on their way go to the file that they were written for, whatever it is called by then. */
  #turn(): void {
    for (let age = olderKept; age > 1; age -= 1) rename(`${this.#path}.${age - 1}`, `${this.#path}.${age}`);
    // What cannot be moved goes on growing, and is tried again when it has grown as much once more.
    this.#bytes = 0;
    if (!rename(this.#path, `${this.#path}.1`)) return;
    this.#stream?.end();
    this.#stream = undefined;
  }

  /** A stream that failed is closed for good; the next line opens another one. Opened at once, before the path can be another file's. */
  #open(): WriteStream | undefined {
    try {
      const fd = openSync(this.#path, 'a', 0o600);
      this.#bytes = fstatSync(fd).size;
      const stream = createWriteStream(this.#path, { fd });
      stream.on('error', () => {
        if (this.#stream === stream) this.#stream = undefined;
      });
      return stream;
    } catch {
      return undefined;
    }
  }
}

function rename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}
