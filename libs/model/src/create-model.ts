import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { classifyFailure } from './classify-failure.ts';
import { toError, waitFor, type Clock } from './clock.ts';
import { openConnection } from './connect.ts';
import { defaultTimeLimits, startDeadlines, type Deadlines, type TimeLimits } from './deadlines.ts';
import { decideRetry, defaultRetryPolicy, type RetryPolicy } from './decide-retry.ts';
import type { ModelSettings } from './model-settings.ts';
import type { Model, ModelPart, ModelRequest, SpanAttributes } from './model.ts';
import { findPrice, priceUsage } from './price-usage.ts';
import type { PriceRow } from './prices.ts';
import { readFinishReason, readPart, readUsage } from './provider-parts.ts';
import { toCallOptions } from './provider-prompt.ts';
import { selectProvider } from './select-provider.ts';
import { describeAnswer, describeRequest } from './span-attributes.ts';

export interface ModelOptions extends ModelSettings {
  readonly clock: Clock;
  /** From 0 up to 1; spreads retries. */
  readonly random: () => number;
  readonly retries?: Partial<RetryPolicy>;
  readonly timeLimits?: Partial<TimeLimits>;
  /** Default 16 MB for one answer on the wire. */
  readonly answerLimitBytes?: number;
  /** Told once of every call that ended, well or not. */
  readonly onCall?: (record: ModelCallRecord) => void;
}

/** One call from its start to its end, attempts and waits included; fit for metrics, free of texts. */
export interface ModelCallRecord {
  readonly attempts: number;
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** Absent when no part was delivered. */
  readonly firstPartMs?: number;
  readonly attributes: SpanAttributes;
  /** Code of the failure; `aborted` when the caller stopped it. Absent for a complete answer. */
  readonly errorCode?: string;
}

/** A model at its provider's address. Keeps its own connections until `close`. */
export function createModel(options: ModelOptions): Model {
  const live = new Map<AbortSignal, Deadlines>();
  const answerLimitBytes = options.answerLimitBytes ?? 16 * 1024 * 1024;
  const connection = openConnection({ connectMs: 10_000, answerBytes: answerLimitBytes }, (signal) =>
    signal === undefined ? undefined : live.get(signal)?.touch(),
  );
  const context: CallContext = {
    options,
    answerLimitBytes,
    live,
    provider: selectProvider(options, connection.fetch),
    price: findPrice(options),
    retries: { ...defaultRetryPolicy, ...options.retries },
    timeLimits: { ...defaultTimeLimits, ...options.timeLimits },
    spanAttributes: describeRequest(options),
  };
  return {
    name: `${options.provider}:${options.model}`,
    spanAttributes: context.spanAttributes,
    stream: (request) => streamRecorded(context, request),
    priceOf: (usage) => priceUsage(context.price, { ...usage, cachedInputTokens: 0 }),
    close: () => connection.close(),
  };
}

interface CallContext {
  readonly options: ModelOptions;
  readonly answerLimitBytes: number;
  readonly live: Map<AbortSignal, Deadlines>;
  readonly provider: LanguageModelV4;
  readonly price: PriceRow | undefined;
  readonly retries: RetryPolicy;
  readonly timeLimits: TimeLimits;
  readonly spanAttributes: SpanAttributes;
}

interface CallProgress {
  attempts: number;
  firstPartAtMs?: number;
  answer?: SpanAttributes;
}

async function* streamRecorded(context: CallContext, request: ModelRequest): AsyncGenerator<ModelPart> {
  const { clock, onCall } = context.options;
  const startedAtMs = clock.now();
  const progress: CallProgress = { attempts: 0 };
  let errorCode: string | undefined = 'aborted';
  try {
    yield* streamWithRetries(context, request, progress);
    errorCode = undefined;
  } catch (error) {
    errorCode = error instanceof FlotillaError ? error.code : 'aborted';
    throw error;
  } finally {
    onCall?.({
      attempts: progress.attempts,
      startedAtMs,
      durationMs: clock.now() - startedAtMs,
      ...(progress.firstPartAtMs === undefined ? {} : { firstPartMs: progress.firstPartAtMs - startedAtMs }),
      attributes: {
        ...context.spanAttributes,
        ...progress.answer,
        ...(errorCode === undefined ? {} : { 'error.type': errorCode }),
      },
      ...(errorCode === undefined ? {} : { errorCode }),
    });
  }
}

async function* streamWithRetries(
  context: CallContext,
  request: ModelRequest,
  progress: CallProgress,
): AsyncGenerator<ModelPart> {
  const { clock, random } = context.options;
  for (;;) {
    progress.attempts += 1;
    try {
      for await (const part of streamOnce(context, request)) {
        progress.firstPartAtMs ??= clock.now();
        if (part.kind === 'finish') progress.answer = part.spanAttributes;
        yield part;
      }
      return;
    } catch (thrown) {
      if (request.signal?.aborted) throw toError(request.signal.reason);
      const failure = classifyFailure(
        thrown,
        { ...context.options, answerLimitBytes: context.answerLimitBytes },
        clock.now(),
      );
      const delivered = progress.firstPartAtMs !== undefined;
      const delayMs = decideRetry(
        { failure, attempt: progress.attempts, delivered, random: random() },
        context.retries,
      );
      if (delayMs === null) throw failure;
      await waitFor(clock, delayMs, request.signal);
    }
  }
}

async function* streamOnce(context: CallContext, request: ModelRequest): AsyncGenerator<ModelPart> {
  const deadlines = startDeadlines(context.options.provider, context.timeLimits, context.options.clock, request.signal);
  context.live.set(deadlines.signal, deadlines);
  try {
    const started = context.provider.doStream({ ...toCallOptions(request), abortSignal: deadlines.signal });
    const { stream } = await deadlines.guard(Promise.resolve(started));
    const reader = stream.getReader();
    try {
      yield* readParts(context, () => deadlines.guard(reader.read()));
    } finally {
      reader.cancel().catch(() => undefined);
    }
  } finally {
    deadlines.stop();
    context.live.delete(deadlines.signal);
  }
}

type ReadPart = () => Promise<{ readonly done: boolean; readonly value?: LanguageModelV4StreamPart | undefined }>;

async function* readParts(context: CallContext, read: ReadPart): AsyncGenerator<ModelPart> {
  const response: ResponseFacts = {};
  for (;;) {
    const { done, value: part } = await read();
    if (done || part === undefined) throw cut(context, 'the stream closed');
    if (part.type === 'error') throw part.error;
    if (part.type === 'response-metadata') {
      if (part.id !== undefined) response.responseId = part.id;
      if (part.modelId !== undefined) response.responseModel = part.modelId;
    }
    if (part.type === 'finish') {
      yield readFinish(context, part, response);
      return;
    }
    const ours = readPart(part);
    if (ours !== undefined) yield ours;
  }
}

interface ResponseFacts {
  responseId?: string;
  responseModel?: string;
}

type FinishPart = Extract<LanguageModelV4StreamPart, { readonly type: 'finish' }>;

function readFinish(context: CallContext, part: FinishPart, response: ResponseFacts): ModelPart {
  const reason = readFinishReason(part.finishReason);
  if (reason === undefined) throw cut(context, 'the provider reported no regular end');
  const usage = readUsage(part.usage);
  const microdollars = priceUsage(context.price, usage);
  const spanAttributes = describeAnswer({ reason, usage, microdollars, ...response });
  return { kind: 'finish', reason, usage, microdollars, spanAttributes };
}

function cut({ options: { provider, model, baseUrl } }: CallContext, reason: string): FlotillaError {
  return new FlotillaError(errors.modelStreamCut, { provider, model, address: baseUrl, reason });
}
