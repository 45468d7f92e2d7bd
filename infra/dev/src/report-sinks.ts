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
    if (event.kind === 'progress') {
      const last = printed.get(event.activity);
      if (last !== undefined && last.text === event.text && event.seconds - last.seconds < repeatAfterSeconds) return;
      printed.set(event.activity, event);
    }
    if (event.kind === 'ended' || event.kind === 'failed') printed.delete(event.activity);
    write(`${renderLine(event)}\n`);
  };
}

/** One JSON object per event and line: `{kind, subject, text, seconds}`. */
export function jsonSink(write: Write): ReportSink {
  return ({ kind, subject, text, seconds }) => write(`${JSON.stringify({ kind, subject, text, seconds })}\n`);
}

/** For a terminal: finished lines scroll up, running activities stay below them and are drawn over. */
export function liveSink(write: Write, columns: () => number): ReportSink {
  const running = new Map<number, ReportEvent>();
  let drawn = 0;
  return (event) => {
    const erase = drawn === 0 ? '' : `\x1b[${drawn}A\x1b[0J`;
    const finished = event.kind === 'said' || event.kind === 'ended' || event.kind === 'failed';
    if (finished) running.delete(event.activity);
    else running.set(event.activity, event);
    const lines = [...running.values()].map((each) => `… ${renderLine(each)}`.slice(0, columns() - 1));
    drawn = lines.length;
    const mark = event.kind === 'failed' ? '✗' : '✓';
    write(
      erase + [...(finished ? [`${mark} ${renderLine(event)}`] : []), ...lines].map((line) => `${line}\n`).join(''),
    );
  };
}

function renderLine({ kind, subject, text, seconds }: ReportEvent): string {
  const age = seconds >= 2 ? ` (${seconds} s)` : '';
  return `${subject}: ${kind === 'failed' ? 'failed: ' : ''}${text}${age}`;
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
