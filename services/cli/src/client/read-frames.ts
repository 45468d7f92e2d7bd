/** One server-sent event. */
export interface Frame {
  readonly id?: string;
  readonly event: string;
  readonly data: string;
}

/** Reads frames out of bytes however they are cut. Comments and frames without data are left out. */
export async function* readFrames(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of bytes) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split(/\r\n\r\n|\n\n|\r\r/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const frame = readFrame(block);
      if (frame !== undefined) yield frame;
    }
  }
}

function readFrame(block: string): Frame | undefined {
  const fields: Record<string, string> = {};
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, name, value] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name !== undefined)
      fields[name] = name in fields && name === 'data' ? `${fields[name]}\n${value ?? ''}` : (value ?? '');
  }
  const { id, event = 'message', data } = fields;
  return data === undefined ? undefined : { event, data, ...(id === undefined ? {} : { id }) };
}
