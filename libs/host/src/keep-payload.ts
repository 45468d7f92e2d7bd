/** Of a message whose text is larger only the beginning is kept. */
const limitBytes = 256 * 1024;
const beginningBytes = 16 * 1024;

/** What a dead letter keeps of the text of its message, and how large that was. A character that is cut in two is left out. */
export function keepPayload(text: string): { readonly payload: string; readonly payloadBytes: number } {
  const bytes = Buffer.from(text);
  const payload =
    bytes.length <= limitBytes ? text : new TextDecoder().decode(bytes.subarray(0, beginningBytes), { stream: true });
  return { payload, payloadBytes: bytes.length };
}
