import { APICallError } from '@ai-sdk/provider';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError, type ErrorDefinition, type ErrorDetails } from '@flotilla/errors/flotilla-error';
import { UnusableAnswer } from './connect.ts';
import type { ModelSettings } from './model-settings.ts';
import { redact } from './redact.ts';
import { readRetryAfter } from './retry-after.ts';

/** Turns whatever the SDK, the provider or the network threw into one of ours, without the key and without the prompt. */
export function classifyFailure(
  thrown: unknown,
  settings: ModelSettings & { readonly answerLimitBytes: number },
  nowMs: number,
): FlotillaError {
  if (thrown instanceof FlotillaError) return thrown;
  const facts = readFacts(thrown, nowMs);
  const reason = redact(facts.message, settings.apiKey) || 'no reason given';
  const details: ErrorDetails = {
    provider: settings.provider,
    model: settings.model,
    address: settings.baseUrl,
    limitBytes: settings.answerLimitBytes,
    reason,
    ...(facts.status === undefined ? {} : { status: facts.status }),
    ...(facts.retryAfterMs === undefined ? {} : { retryAfterMs: facts.retryAfterMs }),
  };
  const { definition, more } = byAnswer(thrown) ?? decideDefinition(facts);
  // The thrown error carries the request with its prompt, so only its redacted words are kept as the cause.
  return new FlotillaError(definition, { ...details, ...more }, { cause: new Error(`${facts.name}: ${reason}`) });
}

interface FailureFacts {
  readonly name: string;
  readonly message: string;
  /** The message, and the codes and types in the provider's body, in lower case, to look for known words. */
  readonly words: string;
  readonly status?: number;
  readonly networkCode?: string;
  readonly retryAfterMs?: number;
}

interface Verdict {
  readonly definition: ErrorDefinition;
  readonly more?: ErrorDetails;
}

/** What our own reading of an answer threw, however deep the SDK wrapped it. */
function byAnswer(thrown: unknown): Verdict | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth += 1) {
    if (!(error instanceof UnusableAnswer)) continue;
    return error.kind === 'too-long'
      ? { definition: errors.modelAnswerTooLong }
      : { definition: errors.modelAnswerUnreadable, more: { reason: 'it is a web page' } };
  }
  return undefined;
}

function decideDefinition(facts: FailureFacts): Verdict {
  return byWords(facts) ?? byStatus(facts) ?? byNetwork(facts);
}

const contextWords =
  /context.?length|context.?window|maximum context|prompt is too long|too many (input )?tokens|input is too long|request_too_large/;
const filterWords = /content_?filter|content management policy|content_policy|responsible_?ai/;
const quotaWords = /insufficient_quota|exceeded your current quota|credit balance|billing/;
const unknownWords = /model_not_found|model.{0,80}(not found|does not exist|not exist)|unknown model|no such model/;

function byWords({ words, status }: FailureFacts): Verdict | undefined {
  const asked = status === undefined || (status >= 400 && status < 500);
  if (!asked || status === 401 || status === 403) return undefined;
  if (quotaWords.test(words)) return { definition: errors.modelQuotaExhausted };
  if (status === 429) return undefined;
  if (status === 413 || contextWords.test(words)) return { definition: errors.modelContextTooLong };
  if (filterWords.test(words)) return { definition: errors.modelContentRefused };
  if (unknownWords.test(words)) return { definition: errors.modelUnknown };
  if (/overloaded/.test(words)) return { definition: errors.modelOverloaded };
  if (/rate.?limit/.test(words)) return { definition: errors.modelRateLimited };
  return undefined;
}

function byStatus({ status }: FailureFacts): Verdict | undefined {
  if (status === undefined || status < 300) return undefined;
  if (status === 401 || status === 403) return { definition: errors.modelCredentialRefused };
  if (status === 404) return { definition: errors.modelUnknown };
  if (status === 429) return { definition: errors.modelRateLimited };
  if (status === 503 || status === 529) return { definition: errors.modelOverloaded };
  if (status === 408 || status >= 500) return { definition: errors.modelServerFailed };
  return { definition: errors.modelRequestRefused };
}

function byNetwork({ name, words, networkCode }: FailureFacts): Verdict {
  if (/without a finish reason|terminated|other side closed|premature|interrupted|empty response/.test(words))
    return { definition: errors.modelStreamCut };
  if (/jsonparse|typevalidation|invalidresponse|no_?output/.test(name.toLowerCase()))
    return { definition: errors.modelAnswerUnreadable };
  if (networkCode === 'UND_ERR_SOCKET' || networkCode === 'ECONNRESET' || networkCode === 'EPIPE')
    return { definition: errors.modelStreamCut };
  // A port that fetch refuses to use has no code.
  if (networkCode !== undefined || /bad port/.test(words)) return { definition: errors.modelUnreachable };
  if (/server_error|internal/.test(words))
    return { definition: errors.modelServerFailed, more: { status: 'in the stream' } };
  return { definition: errors.modelAnswerUnreadable };
}

function readFacts(thrown: unknown, nowMs: number): FailureFacts {
  const networkCode = findNetworkCode(thrown);
  const network = networkCode === undefined ? {} : { networkCode };
  if (APICallError.isInstance(thrown)) {
    const body = thrown.responseBody ?? '';
    const retryAfterMs = readRetryAfter(thrown.responseHeaders ?? {}, nowMs);
    const useful = thrown.statusCode !== undefined && thrown.statusCode >= 300 ? { status: thrown.statusCode } : {};
    return {
      name: thrown.name,
      message: withCauses(thrown),
      words: `${withCauses(thrown)} ${body}`.toLowerCase(),
      ...useful,
      ...network,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
  }
  if (thrown instanceof Error) {
    const message = withCauses(thrown);
    return { name: thrown.name, message, words: `${thrown.name} ${message}`.toLowerCase(), ...network };
  }
  return readStreamedError(thrown);
}

/** An error that a provider sends as an event inside a stream that began well: `{message, type, code}`. */
function readStreamedError(thrown: unknown): FailureFacts {
  const text = typeof thrown === 'string' ? thrown : (JSON.stringify(thrown) ?? 'unknown');
  const { message, statusCode } = isRecord(thrown) ? thrown : {};
  return {
    name: 'StreamedError',
    message: typeof message === 'string' ? message : text,
    words: text.toLowerCase(),
    ...(typeof statusCode === 'number' ? { status: statusCode } : {}),
  };
}

function withCauses(error: Error): string {
  const cause =
    error.cause instanceof Error && !error.message.includes(error.cause.message) ? `: ${withCauses(error.cause)}` : '';
  return `${error.message}${cause}`;
}

function findNetworkCode(thrown: unknown): string | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth += 1) {
    if (
      'code' in error &&
      typeof error.code === 'string' &&
      /^(E[A-Z]+|UND_ERR|ERR_TLS|CERT_|DEPTH_|UNABLE_|SELF_)/.test(error.code)
    )
      return error.code;
  }
  return undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
