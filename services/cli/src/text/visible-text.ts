/**
 * Signs that a terminal or a reader's eye would not show as what they are: control characters, direction marks, signs of
 * no width, tag characters, halves of surrogate pairs.
 */
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udfff]/gu;

/** Text of a repository or a model for a terminal: every hidden sign becomes `\u{…}`; line ends and tabs stay. */
export function visibleText(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(hidden, showSign);
}

/** The same on one line of at most `width` signs, with `…` where something is left out. */
export function visibleLine(text: string, width = 200): string {
  const line = visibleText(text)
    .replace(/\t/g, ' ')
    .split('\n')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ⏎ ');
  const signs = [...line];
  return signs.length <= width ? line : `${signs.slice(0, Math.max(0, width - 1)).join('')}…`;
}

function showSign(sign: string): string {
  return `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;
}
