import { createWriteStream, type WriteStream } from 'node:fs';

/**
 * Appends lines to a file, which is for its owner alone. A line that cannot be written, above all since the disk is full, is lost: no log is worth the
 * service that it is about. The next one that can be written is preceded by how many were.
 */
export class LogFile {
  readonly #path: string;
  #stream: WriteStream | undefined;
  #lost = 0;

  constructor(path: string) {
    this.#path = path;
  }

  write(line: string): void {
    const stream = (this.#stream ??= this.#open());
    const lost = this.#lost;
    this.#lost = 0;
    const text = lost === 0 ? line : `${JSON.stringify({ event: 'log_lines_lost', lines: lost })}\n${line}`;
    stream.write(`${text}\n`, (error) => {
      if (error) this.#lost += lost + 1;
    });
  }

  close(): void {
    this.#stream?.end();
  }

  /** A stream that failed is closed for good; the next line opens another one. */
  #open(): WriteStream {
    const stream = createWriteStream(this.#path, { flags: 'a', mode: 0o600 });
    stream.on('error', () => {
      if (this.#stream === stream) this.#stream = undefined;
    });
    return stream;
  }
}
