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
  readonly detail: string;
  /** What to do about a failure, in a sentence. */
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
