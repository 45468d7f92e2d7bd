/** Something that happened while the machine was being set up. `seconds` is the age of the activity it belongs to. */
export interface ReportEvent {
  readonly kind: 'said' | 'began' | 'progress' | 'ended' | 'failed';
  /** What it is about: "nats", "sandbox image". */
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
  /** Opens an activity: its age is shown once it has lasted two seconds, until it ends. */
  begin(subject: string, text: string): Activity;
}

export interface Activity {
  update(text: string): void;
  /** Default text: the last one, and that it is done. */
  end(text?: string): void;
  fail(text: string): void;
}

/** Milliseconds that only grow. */
export type Clock = () => number;

const progressAfterMs = 2_000;
const tickMs = 1_000;

/** A report whose events go to `sink`. Progress of an activity is told each second from its third on. */
export function createReport(sink: ReportSink, clock: Clock = () => performance.now()): Report {
  let activities = 0;
  return {
    say: (subject, text) => sink({ kind: 'said', subject, text, seconds: 0, activity: 0 }),
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
      const close = (kind: 'ended' | 'failed', lastText: string | undefined): void => {
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
      };
    },
  };
}

/** Runs `work` as an activity: it ends with what `done` makes of the result, or fails with the error's message. */
export async function reportWhile<Result>(
  report: Report,
  subject: string,
  text: string,
  work: (activity: Activity) => Promise<Result>,
  done?: (result: Result) => string,
): Promise<Result> {
  const activity = report.begin(subject, text);
  try {
    const result = await work(activity);
    activity.end(done?.(result));
    return result;
  } catch (error) {
    activity.fail(error instanceof Error ? error.message : String(error));
    throw error;
  }
}

/** Says nothing. */
export const silentReport: Report = createReport(() => undefined);
