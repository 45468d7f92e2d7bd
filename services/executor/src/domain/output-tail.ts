const limitCharacters = 8_000;

/** The end of what commands print, which is where they say how they ended. */
export class OutputTail {
  #text = '';
  #cut = false;

  append(text: string): void {
    const all = this.#text + text;
    this.#cut ||= all.length > limitCharacters;
    this.#text = all.slice(-limitCharacters);
  }

  text(): string {
    return `${this.#cut ? '…' : ''}${this.#text}`.toWellFormed();
  }
}
