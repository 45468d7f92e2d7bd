/** One thing that a working fleet needs of its machine. */
export interface Check {
  /** Stable: "docker.path". */
  readonly id: string;
  readonly title: string;
  /** Looks and changes nothing. */
  run(): Promise<Finding>;
}

export interface Finding {
  readonly ok: boolean;
  /** True for what the next start puts right by itself: it is told, and fails nothing. */
  readonly note?: boolean;
  readonly detail: string;
  /** What to do about a failure, or what the next start does about a note, in a sentence. */
  readonly fix?: string;
}

export type CheckResult = Finding & Pick<Check, 'id' | 'title'>;

export interface DoctorContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute path of what belongs to the clone. */
  readonly dataDirectory: string;
  readonly signal?: AbortSignal | undefined;
}

export function pass(detail: string): Finding {
  return { ok: true, detail };
}

export function fail(detail: string, fix: string): Finding {
  return { ok: false, detail, fix };
}

/** What is not there yet, or could not be looked at, and needs nothing of the person who asks. */
export function note(detail: string, fix: string): Finding {
  return { ok: true, note: true, detail, fix };
}
