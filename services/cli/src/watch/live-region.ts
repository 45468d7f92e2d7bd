/** The last lines of a terminal, drawn over again; everything else scrolls up above them. */
export interface LiveRegion {
  /** Draws these lines in place of the last ones. Each must fit on a line of the terminal. */
  draw(lines: readonly string[]): void;
  /** Prints a line above the region, for good. */
  print(text: string): void;
  /** Takes the region away and shows the cursor. Safe to repeat. */
  clear(): void;
}

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';

export function createLiveRegion(write: (text: string) => void): LiveRegion {
  let shown: readonly string[] = [];
  const erase = () => (shown.length === 0 ? '' : `\u001b[${shown.length}A\u001b[0J`);
  const block = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
  return {
    draw: (lines) => {
      if (lines.length === shown.length && lines.every((line, index) => line === shown[index])) return;
      write(`${hideCursor}${erase()}${block(lines)}`);
      shown = lines;
    },
    print: (text) => write(`${erase()}${text}\n${block(shown)}`),
    clear: () => {
      write(`${erase()}${showCursor}`);
      shown = [];
    },
  };
}
