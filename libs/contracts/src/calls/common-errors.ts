/** Codes that every call may answer with, beside its own. */
export const commonErrors: readonly string[] = [
  'TOKEN_MISSING',
  'TOKEN_REFUSED',
  'TOKEN_IN_URL',
  'ROLE_MISSING',
  'HOST_REFUSED',
  'ORIGIN_REFUSED',
  'REQUEST_INVALID',
  'BODY_UNREADABLE',
  'BODY_TOO_LARGE',
  'CONTENT_TYPE_REFUSED',
  'METHOD_UNKNOWN',
  'STORE_UNAVAILABLE',
  'BROKER_UNAVAILABLE',
  'CALL_UNANSWERED',
  'CALL_TIMED_OUT',
  'GATEWAY_FAILED',
];
