import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { RunId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

export interface ArchiveFilesOptions {
  /** Undefined where none is configured: every write is then refused. */
  readonly directory: string | undefined;
  readonly newId: () => string;
}

/** A file that was written and read back, and has not taken its place yet. */
export interface WrittenArchive {
  /** Its place, below the directory. */
  readonly file: string;
  readonly aside: string;
}

/** The files of archived runs: `YYYY-MM/RUN.jsonl.gz` by the month that the run ended in, readable for the owner alone. */
export class ArchiveFiles {
  readonly #options: ArchiveFilesOptions;

  constructor(options: ArchiveFilesOptions) {
    this.#options = options;
  }

  /** Throws ARCHIVE_DIRECTORY_MISSING. */
  require(): string {
    const { directory } = this.#options;
    if (directory === undefined) throw new FlotillaError(errors.archiveDirectoryMissing);
    return directory;
  }

  /** Writes the lines aside, to disk, and reads them back. What an attempt that died left of this run goes. Throws ARCHIVE_NOT_WRITTEN. */
  async write(runId: RunId, endedAt: Date, lines: AsyncIterable<string>): Promise<WrittenArchive> {
    const file = join(endedAt.toISOString().slice(0, 7), `${runId}.jsonl.gz`);
    const place = join(this.require(), file);
    const aside = join(dirname(place), `.${runId}.${this.#options.newId()}`);
    try {
      await mkdir(dirname(place), { recursive: true, mode: 0o700 });
      await removeAside(dirname(place), runId);
      const digest = await writeLines(aside, lines);
      if ((await readDigest(aside)) !== digest) throw new Error('what was read back is not what was written');
      return { file, aside };
    } catch (error) {
      await rm(aside, { force: true }).catch(() => undefined);
      throw error instanceof FlotillaError ? error : notWritten(runId, error);
    }
  }

  /** Gives the file its place, for good. Safe to repeat with another file of the same run. */
  async publish({ file, aside }: WrittenArchive): Promise<void> {
    const place = join(this.require(), file);
    try {
      await rename(aside, place);
      await using directory = await open(dirname(place));
      await directory.sync();
    } catch (error) {
      throw notWritten(basename(file, '.jsonl.gz'), error);
    }
  }

  /** Takes away a file that did not take its place. Safe to repeat. */
  async discard({ aside }: WrittenArchive): Promise<void> {
    await rm(aside, { force: true });
  }
}

async function removeAside(directory: string, runId: RunId): Promise<void> {
  const left = (await readdir(directory)).filter((name) => name.startsWith(`.${runId}.`));
  for (const name of left) await rm(join(directory, name), { force: true });
}

/** The digest of the lines. They are compressed as they come, so that no more is in memory than one of them. */
async function writeLines(path: string, lines: AsyncIterable<string>): Promise<string> {
  const hash = createHash('sha256');
  async function* hashed(): AsyncGenerator<string> {
    for await (const line of lines) {
      hash.update(line);
      yield line;
    }
  }
  const target = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  await pipeline(Readable.from(hashed()), createGzip(), target);
  return hash.digest('hex');
}

async function readDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), createGunzip(), hash);
  return hash.digest('hex');
}

function notWritten(runId: string, error: unknown): FlotillaError {
  const reason = error instanceof Error ? error.message : String(error);
  return new FlotillaError(errors.archiveNotWritten, { runId, reason }, { cause: error });
}
