import { defineError } from '../flotilla-error.ts';

/** `reason` holds the provider's own words, redacted and capped: data for a reader, never an instruction. */
export const modelErrors = {
  modelNotConfigured: defineError({
    code: 'MODEL_NOT_CONFIGURED',
    remedy: 'operator',
    summary: 'No language model is configured',
    advice: 'Set FLOTILLA_MODEL, for example openai:MODEL, anthropic:MODEL or compatible:MODEL@https://host/v1.',
  }),
  modelSettingInvalid: defineError({
    code: 'MODEL_SETTING_INVALID',
    remedy: 'operator',
    summary: '{setting} is not usable: {reason}',
    advice: 'Correct {setting}; a model is written openai:MODEL, anthropic:MODEL or compatible:MODEL@https://host/v1.',
  }),
  modelKeyMissing: defineError({
    code: 'MODEL_KEY_MISSING',
    remedy: 'operator',
    summary: 'The provider {provider} needs a key and none is set',
    advice: 'Set FLOTILLA_MODEL_KEY or {setting} to a key of that provider.',
  }),
  modelCredentialRefused: defineError({
    code: 'MODEL_CREDENTIAL_REFUSED',
    remedy: 'operator',
    summary: '{provider} refuses the configured key: {reason}',
    advice: 'Set a valid key for {provider} and check that it may use {model}, then retry the run.',
  }),
  modelUnknown: defineError({
    code: 'MODEL_UNKNOWN',
    remedy: 'operator',
    summary: '{provider} does not know the model {model}: {reason}',
    advice: 'Set FLOTILLA_MODEL to a model that {provider} serves, then retry the run.',
  }),
  modelQuotaExhausted: defineError({
    code: 'MODEL_QUOTA_EXHAUSTED',
    remedy: 'operator',
    summary: 'The account at {provider} has no quota left: {reason}',
    advice: 'Add credit or raise the limit at {provider}, then retry the run.',
  }),
  modelRequestRefused: defineError({
    code: 'MODEL_REQUEST_REFUSED',
    remedy: 'operator',
    summary: '{provider} refuses the request with status {status}: {reason}',
    advice: 'Check that {model} supports streaming and tool calls at this address.',
  }),
  modelRateLimited: defineError({
    code: 'MODEL_RATE_LIMITED',
    remedy: 'retry',
    summary: '{provider} limits the rate of requests: {reason}',
    advice:
      'Do nothing while the run goes on; where this ended it, raise the limit at {provider} or wait, then retry the run.',
  }),
  modelOverloaded: defineError({
    code: 'MODEL_OVERLOADED',
    remedy: 'retry',
    summary: '{provider} is overloaded: {reason}',
    advice: 'Do nothing while the run goes on; where this ended it, retry the run once {provider} answers again.',
  }),
  modelServerFailed: defineError({
    code: 'MODEL_SERVER_FAILED',
    remedy: 'retry',
    summary: '{provider} failed with status {status}: {reason}',
    advice: 'Do nothing while the run goes on; where this ended it, retry the run once {provider} answers again.',
  }),
  modelUnreachable: defineError({
    code: 'MODEL_UNREACHABLE',
    remedy: 'retry',
    summary: '{provider} at {address} cannot be reached: {reason}',
    advice: 'Check that {address} answers from this machine; where this ended a run, retry it then.',
  }),
  modelTimedOut: defineError({
    code: 'MODEL_TIMED_OUT',
    remedy: 'retry',
    summary: '{provider} let the {phase} limit of {limitMs} ms pass',
    advice:
      'Do nothing while the run goes on; where this ended it, see whether {provider} keeps up with its load, then retry the run.',
  }),
  modelStreamCut: defineError({
    code: 'MODEL_STREAM_CUT',
    remedy: 'retry',
    summary: 'The answer of {provider} ended before it was complete: {reason}',
    advice:
      'Do nothing while the run goes on; where this ended it, see what closes the connections to {provider}, then retry the run.',
  }),
  modelAnswerUnreadable: defineError({
    code: 'MODEL_ANSWER_UNREADABLE',
    remedy: 'retry',
    summary: 'The answer of {provider} is not its own protocol: {reason}',
    advice: 'Check that {address} speaks the streaming protocol of {provider}, then retry the run.',
  }),
  modelAnswerTooLong: defineError({
    code: 'MODEL_ANSWER_TOO_LONG',
    remedy: 'caller',
    summary: 'An answer of {provider} is longer than {limitBytes} bytes',
    advice: 'Choose another model, then retry the run.',
  }),
  modelContextTooLong: defineError({
    code: 'MODEL_CONTEXT_TOO_LONG',
    remedy: 'caller',
    summary: 'The conversation is longer than {model} accepts: {reason}',
    advice: 'Split the task, or choose a model with a larger window.',
  }),
  modelContentRefused: defineError({
    code: 'MODEL_CONTENT_REFUSED',
    remedy: 'caller',
    summary: '{provider} refuses the content of the request: {reason}',
    advice: 'Reword the task, or choose another model.',
  }),
} as const;
