export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** OpenTelemetry's GenAI conventions for one execution of a tool. */
export function describeToolCall(tool: string, callId: string): Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': callId,
  };
}
