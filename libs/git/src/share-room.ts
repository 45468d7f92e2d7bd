/**
 * Joins texts within a limit of bytes: every text that fits into an equal share of what is left is whole, the larger ones
 * are cut at a line's end and say so. What does not fit even so is left off at the end.
 */
export function shareRoom(
  texts: readonly string[],
  limitBytes: number,
): { readonly text: string; readonly cut: boolean } {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const share = fairShare(sizes, limitBytes);
  if (share === Infinity) return { text: texts.join(''), cut: false };
  const kept = texts.map((text, index) => ((sizes[index] ?? 0) <= share ? text : cutAtLine(text, share)));
  const bytes = Buffer.from(kept.join(''));
  const end = bytes.length <= limitBytes ? bytes.length : bytes.subarray(0, limitBytes).lastIndexOf('\n') + 1;
  return { text: bytes.subarray(0, end).toString('utf8'), cut: true };
}

function fairShare(sizes: readonly number[], limit: number): number {
  let room = limit;
  const ascending = sizes.toSorted((left, right) => left - right);
  for (const [index, size] of ascending.entries()) {
    const share = room / (ascending.length - index);
    if (size > share) return share;
    room -= size;
  }
  return Infinity;
}

/** Bytes that the line about what is missing may take. */
const noteBytes = 60;

function cutAtLine(text: string, shareBytes: number): string {
  const bytes = Buffer.from(text);
  const room = Math.floor(shareBytes) - noteBytes;
  const end = room <= 0 ? 0 : bytes.subarray(0, room).lastIndexOf('\n') + 1;
  const left = bytes.subarray(end).toString('utf8').split('\n').length - 1;
  return `${bytes.subarray(0, end).toString('utf8')}… ${left} more lines of this file are not shown\n`;
}
