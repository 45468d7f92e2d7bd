import { Agent, fetch as undiciFetch } from 'undici';

export interface Connection {
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

export interface ConnectionLimits {
  readonly connectMs: number;
  /** Bytes of one answer; more is not read. */
  readonly answerBytes: number;
}

/** Why an answer is not read on, or at all. */
export class UnusableAnswer extends Error {
  readonly kind: 'web-page' | 'too-long';

  constructor(kind: UnusableAnswer['kind']) {
    super(kind);
    this.kind = kind;
  }
}

/**
 * A fetch of its own connections. It follows no redirect, since that would carry the key to another host, takes no
 * HTML for an answer, and reports bytes as they arrive, so that a provider's keep-alive comments count as life.
 */
export function openConnection(
  limits: ConnectionLimits,
  onBytes: (signal: AbortSignal | undefined) => void,
): Connection {
  const dispatcher = new Agent({ connect: { timeout: limits.connectMs }, headersTimeout: 0, bodyTimeout: 0 });
  const fetch = async (input: string | URL, init: RequestInit & { readonly signal?: AbortSignal | null } = {}) => {
    // undici's own request type and the platform's differ in name only.
    const options = { ...init, dispatcher, redirect: 'manual' } as unknown as Parameters<typeof undiciFetch>[1];
    const response = await undiciFetch(input, options);
    const type = response.headers.get('content-type') ?? '';
    if (response.ok && type.includes('text/html')) throw new UnusableAnswer('web-page');
    const signal = init.signal ?? undefined;
    onBytes(signal);
    const body = response.body?.pipeThrough(countBytes(limits.answerBytes, () => onBytes(signal))) ?? null;
    // The platform's Response takes undici's stream and headers as they are.
    return new Response(body as ReadableStream<Uint8Array> | null, {
      status: response.status,
      statusText: response.statusText,
      headers: [...response.headers],
    });
  };
  // The SDK only calls it with a URL and an init; the platform's overloads allow more.
  return { fetch: fetch as typeof globalThis.fetch, close: () => dispatcher.destroy() };
}

function countBytes(limitBytes: number, onBytes: () => void): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream({
    transform(chunk, controller) {
      seen += chunk.byteLength;
      onBytes();
      if (seen > limitBytes) controller.error(new UnusableAnswer('too-long'));
      else controller.enqueue(chunk);
    },
  });
}
