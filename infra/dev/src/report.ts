import { FlotillaError } from '@flotilla/errors/flotilla-error';

/** Something that happened while the machine was being set up. `seconds` is the age of the activity it belongs to. */
export interface ReportEvent {
  /** `printed` is text as it came, line ends included; `stopped` is an activity that was given up for something else. */
  readonly kind: 'said' | 'warned' | 'printed' | 'began' | 'progress' | 'ended' | 'failed' | 'stopped';
  /** What it is about: "nats", "sandbox image"; empty for what was printed. */
  readonly subject: string;
  readonly text: string;
  readonly seconds: number;
  /** Distinguishes activities of one subject that run at once; 0 for what was only said. */
  readonly activity: number;
}

export type ReportSink = (event: ReportEvent) => void;

/** Says what is done for the person who waits. */
export interface Report {
  say(subject: string, text: string): void;
  /** Says what is not as it should be, and is being dealt with. */
  warn(subject: string, text: string): void;
  /** Says what failed for good. */
  fail(subject: string, text: string): void;
  /** Passes text on as it is, above what runs: whole lines with their ends. */
  print(text: string): void;
  /** Opens an activity: its age is shown once it has lasted two seconds, until it ends. */
  begin(subject: string, text: string): Activity;
}

export interface Activity {
  update(text: string): void;
  /** Default text: the last one, and that it is done. */
  end(text?: string): void;
  fail(text: string): void;
  /** Ends it without a verdict, since it was given up for something else. */
  stop(text: string): void;
}

/** Milliseconds that only grow. */
export type Clock = () => number;

const progressAfterMs = 2_000;
const tickMs = 1_000;

/** A report whose events go to `sink`. Progress of an activity is told each second from its third on. */
export function createReport(sink: ReportSink, clock: Clock = () => performance.now()): Report {
  let activities = 0;
  const tellAtOnce = (kind: ReportEvent['kind'], subject: string, text: string): void =>
    sink({ kind, subject, text, seconds: 0, activity: 0 });
  return {
    say: (subject, text) => tellAtOnce('said', subject, text),
    warn: (subject, text) => tellAtOnce('warned', subject, text),
    fail: (subject, text) => tellAtOnce('failed', subject, text),
    print: (text) => tellAtOnce('printed', '', text),
    begin: (subject, firstText) => {
      const activity = ++activities;
      const beganAt = clock();
      let text = firstText;
      let open = true;
      const tell = (kind: ReportEvent['kind']): void =>
        sink({ kind, subject, text, seconds: Math.floor((clock() - beganAt) / 1_000), activity });
      const timer = setInterval(() => {
        if (clock() - beganAt >= progressAfterMs) tell('progress');
      }, tickMs);
      timer.unref();
      const close = (kind: 'ended' | 'failed' | 'stopped', lastText: string | undefined): void => {
        if (!open) return;
        open = false;
        clearInterval(timer);
        text = lastText ?? `${text}, done`;
        tell(kind);
      };
      tell('began');
      return {
        update: (next) => {
          text = next;
        },
        end: (lastText) => close('ended', lastText),
        fail: (lastText) => close('failed', lastText),
        stop: (lastText) => close('stopped', lastText),
      };
    },
  };
}

/**
 * Runs `work` as an activity: it ends with what `done` makes of the result, or fails with the error's message. Work that ends
 * since `signal` aborted did not fail: what aborted it says so elsewhere.
 */
export async function reportWhile<Result>(
  report: Report,
  subject: string,
  text: string,
  work: (activity: Activity) => Promise<Result>,
  done?: (result: Result) => string,
  signal?: AbortSignal,
): Promise<Result> {
  const activity = report.begin(subject, text);
  try {
    const result = await work(activity);
    activity.end(done?.(result));
    return result;
  } catch (error) {
    if (isAbort(error, signal)) activity.stop(signal?.reason instanceof FlotillaError ? 'given up' : 'stopped');
    else activity.fail(error instanceof Error ? error.message : String(error));
    throw error;
  }
}

function isAbort(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted !== true) return false;
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}

/** Says nothing. */
export const silentReport: Report = createReport(() => undefined);
