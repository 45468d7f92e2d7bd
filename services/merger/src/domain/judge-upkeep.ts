const dayMs = 24 * 3600 * 1000;

export type Upkeep =
  | 'not_due'
  | 'when_quiet'
  /** It never was quiet: steps wait the minutes that it takes. */
  | 'now';

/** Whether a mirror that was last maintained then is to be maintained. */
export function judgeUpkeep(maintainedAt: Date, now: Date): Upkeep {
  const ageMs = now.getTime() - maintainedAt.getTime();
  if (ageMs < dayMs) return 'not_due';
  return ageMs < 7 * dayMs ? 'when_quiet' : 'now';
}
