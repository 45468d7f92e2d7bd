/** Where payloads too large for a row are kept. Names are made from content, so putting one again changes nothing. */
export interface Spills {
  put(name: string, bytes: Uint8Array): Promise<void>;
  get(name: string): Promise<Uint8Array>;
}

/** Payloads whose JSON has more bytes than this are spilled. */
export const SPILL_LIMIT_BYTES = 16 * 1024;
