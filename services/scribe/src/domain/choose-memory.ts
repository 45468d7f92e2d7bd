/** A memory as a model proposes it: data, without any authority before a person promotes it. */
export interface ProposedMemory {
  readonly kind: 'learning' | 'pattern' | 'decision';
  readonly title: string;
  readonly text: string;
}

const titleLimit = 120;
const textLimit = 2_000;

/** At most one memory a run goes to the inbox, so that reading the inbox stays worth a person's time: the first that says something. */
export function chooseMemory(proposed: readonly ProposedMemory[]): ProposedMemory | undefined {
  const [chosen] = proposed.filter(({ title, text }) => title.trim() !== '' && text.trim() !== '');
  return chosen && { kind: chosen.kind, title: cut(chosen.title, titleLimit), text: cut(chosen.text, textLimit) };
}

function cut(text: string, limit: number): string {
  const trimmed = text.replaceAll('\0', '').trim();
  return (trimmed.length <= limit ? trimmed : `${trimmed.slice(0, limit - 1)}…`).toWellFormed();
}
