import { PassThrough } from 'node:stream';
import pretty from 'pino-pretty';

/** Prints what the services log: for a person one short coloured line an event, otherwise the JSON as it came. */
export function openLogOutput(output: NodeJS.WritableStream, json: boolean): (line: string) => void {
  if (json) return (line) => void output.write(`${line}\n`);
  const input = new PassThrough();
  input.pipe(
    pretty({
      destination: output,
      colorize: true,
      singleLine: true,
      translateTime: 'HH:MM:ss',
      messageKey: 'message',
      messageFormat: '{service} {event}',
      ignore: 'pid,hostname,service,event,instance,span_id',
    }),
  );
  return (line) => void input.write(`${line}\n`);
}
