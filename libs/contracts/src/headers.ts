/** Names of headers that messages between services and answers of calls carry. */
export const headers = {
  /** W3C trace context. */
  traceparent: 'traceparent',
  tracestate: 'tracestate',
  /** On the answer of a call that failed: the error's code; the body is the problem. */
  error: 'Flotilla-Error',
  /** On a task: the subject of the publisher's own inbox that the run id or the refusal is sent to; any other is ignored. */
  answerTo: 'Flotilla-Answer-To',
} as const;
