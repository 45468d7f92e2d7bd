export type OutputStream = 'stdout' | 'stderr';

export interface OutputFrame {
  readonly stream: OutputStream;
  readonly bytes: Uint8Array;
}

const headerBytes = 8;
const stderrType = 2;

/**
 * Takes Docker's framed output apart: an 8-byte header (stream type, three zeros, length big-endian) before each frame.
 * Frames may arrive cut anywhere; their bytes are handed on as they come, so nothing is kept but a header.
 */
export class OutputFrames {
  #header = new Uint8Array(headerBytes);
  #headerFill = 0;
  #stream: OutputStream = 'stdout';
  #left = 0;

  *push(chunk: Uint8Array): Generator<OutputFrame> {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === 0) {
        const taken = Math.min(headerBytes - this.#headerFill, chunk.length - at);
        this.#header.set(chunk.subarray(at, at + taken), this.#headerFill);
        this.#headerFill += taken;
        at += taken;
        if (this.#headerFill < headerBytes) return;
        this.#headerFill = 0;
        this.#stream = this.#header[0] === stderrType ? 'stderr' : 'stdout';
        this.#left = new DataView(this.#header.buffer).getUint32(4);
        continue;
      }
      const bytes = chunk.subarray(at, at + this.#left);
      this.#left -= bytes.length;
      at += bytes.length;
      yield { stream: this.#stream, bytes };
    }
  }
}
