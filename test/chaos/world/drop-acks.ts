import { Transform } from 'node:stream';

/** Whether acknowledgements get lost now; shared by all connections of a proxy. */
export interface AckLoss {
  losing: boolean;
  lost: number;
}

const lineEnd = Buffer.from('\r\n');

/**
 * What a NATS client says, without its JetStream acknowledgements while `loss.losing`. Reads the client protocol: a line,
 * and for PUB and HPUB as many bytes as the line's last word says (docs.nats.io, "Client Protocol").
 */
export function dropAcks(loss: AckLoss): Transform {
  let rest: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _, done) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const kept: Buffer[] = [];
      for (;;) {
        const length = commandLength(rest);
        if (length === undefined || length > rest.length) break;
        const command = rest.subarray(0, length);
        rest = rest.subarray(length);
        if (loss.losing && isAck(command)) loss.lost += 1;
        else kept.push(command);
      }
      done(null, Buffer.concat(kept));
    },
  });
}

/** Bytes of the first command; undefined while its line has not come whole. */
function commandLength(bytes: Buffer): number | undefined {
  const end = bytes.indexOf(lineEnd);
  if (end === -1) return undefined;
  const words = bytes.toString('latin1', 0, end).trim().split(/\s+/);
  const line = end + lineEnd.length;
  return /^H?PUB$/i.test(words[0] ?? '') ? line + Number(words.at(-1)) + lineEnd.length : line;
}

/** `working` is a sign of life, not an acknowledgement: its payload is +WPI. */
function isAck(command: Buffer): boolean {
  return /^H?PUB \$JS\.ACK\./i.test(command.toString('latin1', 0, 32)) && !command.includes('+WPI');
}
