/** Names of headers that messages between services and answers of calls carry. */
export const headers = {
  /** W3C trace context. */
  traceparent: 'traceparent',
  tracestate: 'tracestate',
  /** On the answer of a call that failed: the error's code; the body is the problem. */
  error: 'Flotilla-Error',
  /** On a task: the `_INBOX.` subject that the run id or the refusal is sent to. */
  answerTo: 'Flotilla-Answer-To',
} as const;

/** Subjects an answer to a task may go to; anything else in the header is ignored. */
export const ANSWER_SUBJECT = /^_INBOX(_[a-zA-Z0-9]+)?(\.[a-zA-Z0-9_-]+)+$/;
