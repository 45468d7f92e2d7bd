/**
 * Joins texts within a limit of bytes: every text that fits into an equal share of what is left is whole, the larger ones
 * are cut at a line's end and say so.
 */
export function shareRoom(
  texts: readonly string[],
  limitBytes: number,
): { readonly text: string; readonly cut: boolean } {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const share = fairShare(sizes, limitBytes);
  let cut = false;
  const kept = texts.map((text, index) => {
    if ((sizes[index] ?? 0) <= share) return text;
    cut = true;
    return cutAtLine(text, share);
  });
  return { text: kept.join(''), cut };
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

function cutAtLine(text: string, limitBytes: number): string {
  const bytes = Buffer.from(text);
  const end = bytes.lastIndexOf('\n', Math.floor(limitBytes)) + 1;
  const left = bytes.subarray(end).toString('utf8').split('\n').length - 1;
  return `${bytes.subarray(0, end).toString('utf8')}… ${left} more lines of this file are not shown\n`;
}
