import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import type { ModelMessage, ModelRequest, ModelToolArguments } from './model.ts';

/** Anthropic caches what it is told to; the other providers cache prefixes by themselves. */
const cached = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const;

/** Our request in the SDK's words. Marks the system text and the last message as the ends of cacheable prefixes. */
export function toCallOptions(request: ModelRequest): LanguageModelV4CallOptions {
  const last = request.messages.length - 1;
  return {
    prompt: [
      { role: 'system', content: request.system, providerOptions: cached },
      ...request.messages.map((message, index) => ({
        ...toMessage(message),
        ...(index === last ? { providerOptions: cached } : {}),
      })),
    ],
    tools: request.tools.map(({ name, description, parameters }) => ({
      type: 'function',
      name,
      description,
      inputSchema: parameters,
    })),
    ...(request.tools.length === 0 ? {} : { toolChoice: { type: request.toolChoice ?? 'auto' } }),
    ...(request.maxOutputTokens === undefined ? {} : { maxOutputTokens: request.maxOutputTokens }),
  };
}

function toMessage(message: ModelMessage): LanguageModelV4Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }] };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
          ...message.calls.map((call) => ({
            type: 'tool-call' as const,
            toolCallId: call.id,
            toolName: call.name,
            input: toInput(call.arguments),
          })),
        ],
      };
    case 'tool':
      return {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: message.callId,
            toolName: message.name,
            output: { type: 'text', value: message.text },
          },
        ],
      };
  }
}

/** Providers insist on an object; what was unreadable is explained by the call's result. */
function toInput(toolArguments: ModelToolArguments): unknown {
  return toolArguments.kind === 'parsed' ? toolArguments.value : {};
}
