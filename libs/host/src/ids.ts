import type { GateId, RunId } from '@flotilla/contracts/ids';

export interface Ids {
  newRunId(): RunId;
  newGateId(): GateId;
  /** Letters and digits that nobody guesses. */
  newToken(): string;
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const timeLength = 10;
const randomLength = 16;

/** Ids that sort by time: ten characters of milliseconds and sixteen of chance, as ULIDs are, in lower case. */
export function createIds(clock: () => Date, randomBytes: (count: number) => Uint8Array): Ids {
  const newUlid = (): string => encodeTime(clock().getTime()) + encodeRandom(randomBytes(randomLength));
  return {
    newRunId: () => `run_${newUlid()}` as RunId, // made of the pattern's own characters
    newGateId: () => `gate_${newUlid()}` as GateId, // likewise
    newToken: () => encodeRandom(randomBytes(randomLength)),
  };
}

function encodeTime(milliseconds: number): string {
  let rest = milliseconds;
  let text = '';
  for (let place = 0; place < timeLength; place += 1) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function encodeRandom(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => alphabet.charAt(byte % 32)).join('');
}
