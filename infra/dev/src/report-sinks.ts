import type { ReportEvent, ReportSink } from './report.ts';

export type Write = (text: string) => void;

const repeatAfterSeconds = 10;

/**
 * One plain line per event. Of an activity it prints each new text and the same text every ten seconds, from its third
 * second on; quick ones leave the line they end with.
 */
export function plainSink(write: Write): ReportSink {
  const printed = new Map<number, { readonly text: string; readonly seconds: number }>();
  return (event) => {
    if (event.kind === 'began') return;
    if (event.kind === 'printed') return write(event.text);
    if (event.kind === 'progress') {
      const last = printed.get(event.activity);
      if (last !== undefined && last.text === event.text && event.seconds - last.seconds < repeatAfterSeconds) return;
      printed.set(event.activity, event);
    }
    if (marks[event.kind] !== undefined) printed.delete(event.activity);
    write(`${renderLine(event)}\n`);
  };
}

/** One JSON object per event and line: `{kind, subject, text, seconds}`; what is printed stays as it came. */
export function jsonSink(write: Write): ReportSink {
  return ({ kind, subject, text, seconds }) =>
    write(kind === 'printed' ? text : `${JSON.stringify({ kind, subject, text, seconds })}\n`);
}

/** Of the events that leave a line for good. */
const marks: Readonly<Partial<Record<ReportEvent['kind'], string>>> = {
  said: '✓',
  ended: '✓',
  warned: '!',
  failed: '✗',
  stopped: '–',
};

/** For a terminal: finished lines scroll up, running activities stay below them and are drawn over. */
export function liveSink(write: Write, columns: () => number): ReportSink {
  const running = new Map<number, ReportEvent>();
  let drawn = 0;
  return (event) => {
    const erase = drawn === 0 ? '' : `\x1b[${drawn}A\x1b[0J`;
    const mark = marks[event.kind];
    if (mark !== undefined) running.delete(event.activity);
    else if (event.kind !== 'printed') running.set(event.activity, event);
    const lines = [...running.values()].map((each) => `… ${renderLine(each)}`.slice(0, columns() - 1));
    drawn = lines.length;
    const above = event.kind === 'printed' ? event.text : mark === undefined ? '' : `${mark} ${renderLine(event)}\n`;
    write(erase + above + lines.map((line) => `${line}\n`).join(''));
  };
}

function renderLine({ kind, subject, text, seconds, activity }: ReportEvent): string {
  const age = seconds >= 2 ? ` (${seconds} s)` : '';
  return `${subject}: ${kind === 'failed' && activity !== 0 ? 'failed: ' : ''}${text}${age}`;
}

/** Live lines on a terminal, JSON lines when asked for, plain lines otherwise. */
export function chooseSink(
  stream: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown },
  json: boolean,
): ReportSink {
  const write: Write = (text) => void stream.write(text);
  if (json) return jsonSink(write);
  return stream.isTTY === true ? liveSink(write, () => stream.columns ?? 80) : plainSink(write);
}
