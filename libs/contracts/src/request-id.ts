/** Names the occasion of a step request: the same step asked again under a new attempt is a new occasion. */
export function requestId(request: {
  readonly runId: string;
  readonly stepId: string;
  readonly attempt: number;
}): string {
  return `${request.runId}/${request.stepId}/${request.attempt}/requested`;
}
