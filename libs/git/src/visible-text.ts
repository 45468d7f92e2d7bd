/** Everything a terminal or a browser would obey or hide: controls but tab and newline, bidirectional marks, zero-width and tag characters. */
const invisible =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Writes characters that would be obeyed or hidden as visible escapes: `\x1b`, `\u{202e}`. Tabs and newlines stay. */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (character === '\r') return '\\r';
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** Decodes UTF-8; a byte that is not part of it becomes `\xNN`. Then escapes as {@link escapeInvisible}. */
export function toVisibleText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('utf8');
  return escapeInvisible(text.includes('\ufffd') ? decodeWithEscapes(bytes) : text);
}

function decodeWithEscapes(bytes: Uint8Array): string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  let start = 0;
  while (start < bytes.length) {
    const length = validPrefixLength(bytes, start);
    text += decoder.decode(bytes.subarray(start, start + length));
    start += length;
    const stray = bytes[start];
    if (stray === undefined) break;
    text += `\\x${stray.toString(16).padStart(2, '0')}`;
    start += 1;
  }
  return text;
}

function validPrefixLength(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length === 0) break;
    at += length;
  }
  return at - start;
}

/** Length of the well-formed UTF-8 sequence at `at` (Unicode 15, table 3-7), 0 when there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const second = bytes[at + 1] ?? 0;
  if (first >= 0xc2 && first <= 0xdf) return isContinuation(second) ? 2 : 0;
  const third = bytes[at + 2] ?? 0;
  if (first >= 0xe0 && first <= 0xef) {
    const low = first === 0xe0 ? 0xa0 : 0x80;
    const high = first === 0xed ? 0x9f : 0xbf;
    return second >= low && second <= high && isContinuation(third) ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4) return 0;
  const low = first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high && isContinuation(third) && isContinuation(bytes[at + 3] ?? 0) ? 4 : 0;
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte <= 0xbf;
}
