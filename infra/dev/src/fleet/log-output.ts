import { prettyFactory } from 'pino-pretty';

/** Prints what the services log, a whole line at a time: for a person short and coloured, otherwise the JSON as it came. */
export function openLogOutput(output: { write(text: string): unknown }, json: boolean): (line: string) => void {
  if (json) return (line) => void output.write(`${line}\n`);
  const render = prettyFactory({
    colorize: true,
    singleLine: true,
    translateTime: 'HH:MM:ss',
    messageKey: 'message',
    messageFormat: '{service} {event}',
    ignore: 'pid,hostname,service,event,instance,span_id',
  });
  return (line) => void output.write(render(line));
}
