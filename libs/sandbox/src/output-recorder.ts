const longestCharacter = 4;
const mostChunks = 4096;

/**
 * Keeps the beginning and the end of a text that may be endless, within `limitBytes` of UTF-8, never cutting a character.
 * What lies between is counted and replaced by a marker on a line of its own.
 */
export class OutputRecorder {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head: Uint8Array[] = [];
  #headBytes = 0;
  #headFull = false;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #totalBytes = 0;

  constructor(limitBytes: number) {
    this.#headLimit = Math.ceil(limitBytes / 2);
    this.#tailLimit = Math.floor(limitBytes / 2);
  }

  append(text: string): void {
    let bytes: Uint8Array = Buffer.from(text);
    this.#totalBytes += bytes.length;
    if (!this.#headFull) {
      const cut = cutBefore(bytes, this.#headLimit - this.#headBytes);
      this.#headFull = cut < bytes.length;
      this.#head.push(bytes.subarray(0, cut));
      this.#head = joinMany(this.#head);
      this.#headBytes += cut;
      bytes = bytes.subarray(cut);
    }
    if (bytes.length === 0) return;
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    this.#forget();
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  get truncated(): boolean {
    return this.#totalBytes > this.#headLimit + this.#tailLimit;
  }

  text(): string {
    const head = Buffer.concat(this.#head).toString();
    const kept = Buffer.concat(this.#tail);
    if (!this.truncated) return head + kept.toString();
    const tail = kept.subarray(cutAfter(kept, kept.length - this.#tailLimit));
    const left = this.#totalBytes - this.#headBytes - tail.length;
    return `${head}\n[... ${left} bytes left out ...]\n${tail.toString()}`;
  }

  /** Drops whole chunks that no longer belong to the end. */
  #forget(): void {
    let gone = 0;
    for (const chunk of this.#tail) {
      if (this.#tailBytes - chunk.length < this.#tailLimit + longestCharacter) break;
      this.#tailBytes -= chunk.length;
      gone += 1;
    }
    if (gone > 0) this.#tail.splice(0, gone);
    this.#tail = joinMany(this.#tail);
  }
}

/** Joins small chunks now and then: a chunk costs a hundred bytes, and may hold one. */
function joinMany(chunks: Uint8Array[]): Uint8Array[] {
  return chunks.length > mostChunks ? [Buffer.concat(chunks)] : chunks;
}

/** The largest index ≤ `limit` that does not lie inside a character. */
function cutBefore(bytes: Uint8Array, limit: number): number {
  if (bytes.length <= limit) return bytes.length;
  let cut = limit;
  while (cut > 0 && isContinuation(bytes[cut])) cut -= 1;
  return cut;
}

function cutAfter(bytes: Uint8Array, limit: number): number {
  let cut = Math.max(0, limit);
  while (cut < bytes.length && isContinuation(bytes[cut])) cut += 1;
  return cut;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
