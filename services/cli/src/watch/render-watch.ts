import type { RunId } from '@flotilla/contracts/ids';
import { describeSpan } from '../text/describe-amounts.ts';
import type { Palette } from '../text/paint.ts';
import { describeDiffStat } from '../text/render-diff.ts';
import { visibleLine, visibleText } from '../text/visible-text.ts';
import { wrapEnd } from '../text/wrap-text.ts';
import { blockInSight, type WatchState } from './watch-state.ts';

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Lines of what is said that stay in sight. */
const tailLines = 4;

export interface WatchFrame {
  readonly runId: RunId;
  /** What the person types before a verb. */
  readonly command: string;
  readonly now: string;
  /** Counts up; turns the spinner. */
  readonly tick: number;
  readonly columns: number;
  /** True where the question is asked below by a prompt. */
  readonly prompted: boolean;
}

/** The lines of a live view that change: the step at work and what it does, or the question that waits. */
export function renderWatch(state: WatchState, frame: WatchFrame, palette: Palette): readonly string[] {
  const { runId, command, now, tick, columns, prompted } = frame;
  const cut = (text: string, indent: number) => visibleLine(text, Math.max(20, columns - indent));
  if (state.ended) return [];
  if (state.gate !== undefined) {
    const { question, change } = state.gate;
    return [
      `${palette.yellow('?')} ${palette.bold(cut(question, 4))}`,
      `  ${describeDiffStat(change.files)}, commit ${change.commit.slice(0, 10)}`,
      ...(prompted ? [] : [palette.dim(`  ${command} diff ${runId}`), palette.dim(`  ${command} approve ${runId}`)]),
    ];
  }
  const sign = palette.cyan(spinner[tick % spinner.length] ?? '');
  if (state.step === undefined) return [`${sign} waiting for the next step`];
  const head = `${sign} ${palette.bold(state.step.name)} ${palette.dim(describeSpan(state.step.since, now))}`;
  return [
    state.call === undefined ? head : `${head}  ${cut(state.call, state.step.name.length + 16)}`,
    ...wrapEnd(visibleText(blockInSight(state)), Math.max(20, columns - 4), tailLines).map((line) =>
      palette.dim(`  ${line}`),
    ),
  ];
}
