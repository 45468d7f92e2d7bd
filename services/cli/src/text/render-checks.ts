/** What one check of the doctor found. */
export interface CheckResult {
  /** Stable: "docker.path". */
  readonly id: string;
  readonly title: string;
  readonly ok: boolean;
  /** True for what is neither well nor wrong: it is told and fails nothing. */
  readonly note?: boolean | undefined;
  readonly detail: string;
  /** What to do about a failure, in a sentence. */
  readonly fix?: string | undefined;
}

/** A line for each check, below a failed one what to do about it, and a last line that sums up. */
export function renderChecks(results: readonly CheckResult[]): string {
  const width = Math.max(...results.map(({ title }) => title.length));
  const lines = results.flatMap(({ ok, note, title, detail, fix }) => [
    `${note ? '·' : ok ? '✓' : '✗'} ${title.padEnd(width)}  ${detail}`,
    ...((ok && !note) || fix === undefined ? [] : [`${' '.repeat(width + 4)}→ ${fix}`]),
  ]);
  return [...lines, '', sumUp(results)].join('\n');
}

function sumUp(results: readonly CheckResult[]): string {
  const failed = results.filter(({ ok }) => !ok).length;
  if (failed > 0) return `${failed} of ${results.length} checks failed.`;
  if (results.some(({ note }) => note)) return 'Nothing is wrong; what is marked with · comes with "npm start".';
  return 'Everything is as it should be.';
}
