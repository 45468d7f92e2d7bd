/** Colours and cursor movements of a terminal. */

const terminalSequences = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** Control characters, bidirectional overrides, zero-width and tag characters, lone surrogates: what hides or rearranges text. */
const hidden =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

/** Text in which nothing is invisible: hidden characters are spelled out, line ends and tabs stay. */
export function showHidden(text: string): string {
  return text
    .replace(/\r(?!\n)/g, '\n')
    .replace(hidden, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A command's output without the terminal's own sequences. */
export function cleanOutput(output: string): string {
  return showHidden(output.replace(terminalSequences, ''));
}

/** The text, or its head and tail with a marker that says how much is left out. */
export function truncateText(text: string, limitCharacters: number): string {
  if (text.length <= limitCharacters) return text;
  const tail = Math.floor(limitCharacters / 4);
  const head = limitCharacters - tail;
  return `${cutSafely(text.slice(0, head))}\n[… ${text.length - limitCharacters} characters left out …]\n${text.slice(-tail).replace(/^[\udc00-\udfff]/, '')}`;
}

function cutSafely(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, '');
}

/** What some models write of their thinking into the answer itself is not part of the answer. */
export function dropReasoning(text: string): string {
  return text.replace(/<(think|thinking|reasoning)>[\s\S]*?(<\/\1>|$)/gi, '').trim();
}
