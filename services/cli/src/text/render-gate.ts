import type { ShowGate } from '@flotilla/contracts/calls/show-gate';
import type { ResponseOf } from '@flotilla/contracts/define-call';
import type { Palette } from './paint.ts';
import { renderDiffStat } from './render-diff.ts';
import { visibleLine } from './visible-text.ts';

/** What a person decides on: the files, the checks that passed and the review, one line each. */
export function renderGate(
  { gate, checks, review, findings }: ResponseOf<typeof ShowGate>,
  palette: Palette,
): readonly string[] {
  return [
    renderDiffStat(gate.change.files, palette),
    checks.length > 0
      ? ` checks passed: ${checks.map((check) => visibleLine(check)).join(', ')}`
      : ' checks: none ran; the project was added with --unchecked',
    ...(review === undefined ? [] : [` review: ${visibleLine(review)}`]),
    ...findings.map(
      ({ severity, path, text }) =>
        ` ${severity}: ${path === undefined ? '' : `${visibleLine(path)}: `}${visibleLine(text)}`,
    ),
  ];
}
