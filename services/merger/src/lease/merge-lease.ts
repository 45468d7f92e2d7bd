export interface MergeLease {
  /**
   * Runs `work` while nobody else lands on the same lane; `lane` is the git library's canonical lock key. Throws
   * `mergeLeaseHeld` where somebody does and `mergeLeaseUnavailable` where Redis does not answer. The signal aborts when
   * the lease is lost. It saves wasted work and is not the guard: the guard is the push that names the old value.
   */
  hold<Result>(lane: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
}
