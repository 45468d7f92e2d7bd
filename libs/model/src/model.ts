export type SpanAttributes = Readonly<Record<string, string | number | readonly string[]>>;

/** One language model at one address. The key it was made with is reachable through no property of it. */
export interface Model {
  /** `provider:model`, fit for a log line. */
  readonly name: string;
  /** What is known of every call before it starts, in semantic-convention names. */
  readonly spanAttributes: SpanAttributes;
  /**
   * One answer, ending with exactly one `finish` part. Throws a FlotillaError of the model area, or the reason of
   * `request.signal` as soon as that aborts. A failure before the first part has already been retried.
   */
  stream(request: ModelRequest): AsyncIterable<ModelPart>;
  /** Millionths of a US dollar that so many tokens cost; null when the price is not known. */
  readonly priceOf?: (usage: Pick<ModelUsage, 'inputTokens' | 'outputTokens'>) => number | null;
  /** Closes the connections. A call still running ends as cut. */
  close(): Promise<void>;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** Default: auto. */
  readonly toolChoice?: 'auto' | 'required' | 'none';
  readonly maxOutputTokens?: number;
  readonly signal?: AbortSignal;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ModelToolCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly text: string };

export interface ModelTool {
  /** Letters, digits, underscore and hyphen only. */
  readonly name: string;
  readonly description: string;
  /** A JSON schema of type object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: ModelToolArguments;
}

/** What a model wrote as arguments; `unreadable` when it is not a JSON object. */
export type ModelToolArguments =
  | { readonly kind: 'parsed'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unreadable'; readonly text: string; readonly reason: string };

export type ModelPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | ({ readonly kind: 'toolCall' } & ModelToolCall)
  | {
      readonly kind: 'finish';
      readonly reason: ModelFinishReason;
      readonly usage: ModelUsage;
      /** Millionths of a US dollar; null when the price is not known. */
      readonly microdollars: number | null;
      readonly spanAttributes: SpanAttributes;
    };

/** `refused`: the provider's content filter ended the answer. `length`: the output limit did. */
export type ModelFinishReason = 'stop' | 'toolCalls' | 'length' | 'refused' | 'other';

/** All 0 where the provider counts none. */
export interface ModelUsage {
  /** All tokens read, cached ones included. */
  readonly inputTokens: number;
  /** All tokens written, reasoning included. */
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  /** Input tokens written to the provider's cache, where it says so. */
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}
