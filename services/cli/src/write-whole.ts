import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

/**
 * Writes a file in parts. What was there stays until all of them are; what is no file, such as a pipe, gets them at once.
 * Throws FILE_NOT_WRITTEN, and what the parts throw.
 */
export async function writeWhole(
  path: string,
  writeParts: (write: (part: Uint8Array) => Promise<void>) => Promise<void>,
): Promise<void> {
  const wanting = async <T>(work: Promise<T>): Promise<T> =>
    work.catch((cause: unknown) => {
      throw new FlotillaError(errors.fileNotWritten, { file: path, reason: reasonOf(cause) }, { cause });
    });
  const target = await realpath(path).catch(() => path);
  const before = await stat(target).catch(() => undefined);
  const direct = before !== undefined && !before.isFile();
  const aside = direct ? target : `${target}.${process.pid}.part`;
  const file = await wanting(open(aside, 'w', before?.mode));
  try {
    if (!direct && before !== undefined) await wanting(file.chmod(before.mode & 0o7777));
    await writeParts((part) => wanting(file.writeFile(part)));
    await wanting(file.close());
    if (!direct) await wanting(rename(aside, target));
  } catch (error) {
    await file.close();
    if (!direct) await rm(aside, { force: true });
    throw error;
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
