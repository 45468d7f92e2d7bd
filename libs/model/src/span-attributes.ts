import type { ModelSettings } from './model-settings.ts';
import type { ModelFinishReason, ModelUsage, SpanAttributes } from './model.ts';

const providerNames = { openai: 'openai', anthropic: 'anthropic', compatible: 'openai_compatible' } as const;

/** Attributes of a chat span that are known before the call; names from OpenTelemetry's GenAI conventions (2026). */
export function describeRequest(settings: ModelSettings): SpanAttributes {
  const url = new URL(settings.baseUrl);
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerNames[settings.provider],
    'gen_ai.request.model': settings.model,
    'gen_ai.output.type': 'text',
    'server.address': url.hostname,
    'server.port': url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
  };
}

export interface AnsweredCall {
  readonly reason: ModelFinishReason;
  readonly usage: ModelUsage;
  readonly microdollars: number | null;
  readonly responseId?: string;
  readonly responseModel?: string;
}

const finishReasons = {
  stop: 'stop',
  toolCalls: 'tool_calls',
  length: 'length',
  refused: 'content_filter',
  other: 'other',
} as const;

/** Attributes of a chat span that the answer adds. An unknown cost or detail is absent, never 0. */
export function describeAnswer({
  reason,
  usage,
  microdollars,
  responseId,
  responseModel,
}: AnsweredCall): SpanAttributes {
  return {
    'gen_ai.response.finish_reasons': [finishReasons[reason]],
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
    ...(usage.cacheWriteTokens === undefined
      ? {}
      : { 'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens }),
    ...(usage.reasoningTokens === undefined ? {} : { 'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens }),
    ...(responseId === undefined ? {} : { 'gen_ai.response.id': responseId }),
    ...(responseModel === undefined ? {} : { 'gen_ai.response.model': responseModel }),
    ...(microdollars === null ? {} : { 'flotilla.cost_microdollars': microdollars }),
  };
}
