import { z } from 'zod';

/**
 * Prints what the services log: for a program each line as it came; for a person a short one of what matters: a service that is ready, a
 * run that began, waits or has ended, and what is not as it should be. All of it is in the files of the logs.
 */
export function openLogOutput(output: { write(text: string): unknown }, json: boolean): (line: string) => void {
  if (json) return (line) => void output.write(`${line}\n`);
  const states = new Map<string, string>();
  return (line) => {
    const text = describeLine(line, states);
    if (text !== undefined) output.write(`${text}\n`);
  };
}

const text = z.string().optional().catch(undefined);
const Line = z.object({
  level: z.string(),
  event: z.string(),
  service: text,
  time: text,
  run_id: text,
  state: text,
  step_id: text,
  result: text,
  stage: text,
  task: text,
  code: text,
  reason: text,
  error: text,
  err: z.object({ message: z.string() }).optional().catch(undefined),
});
type Line = z.infer<typeof Line>;

const troubles: Readonly<Record<string, string>> = { warn: '!', error: '✗', fatal: '✗' };

/** Undefined for what is left to the files. `states` holds what was last told of each run under way. */
function describeLine(written: string, states: Map<string, string>): string | undefined {
  const line = readLine(written);
  // What is no line of a log is the last word of a program that dies.
  if (line === undefined) return written.trim() === '' ? undefined : show(written);
  const told = describeTrouble(line) ?? describeRun(line, states) ?? describeService(line);
  return told === undefined ? undefined : show(`${line.time?.slice(11, 19) ?? ''} ${told}`.trimStart());
}

function describeTrouble({ level, event, service, stage, task, run_id, code, reason, error, err }: Line) {
  const mark = troubles[level];
  if (mark === undefined) return undefined;
  const facts = [stage ?? task, run_id, code, reason ?? error ?? err?.message].filter((each) => each !== undefined);
  return `${mark} ${service ?? 'fleet'} ${event.replaceAll('_', ' ')}${facts.length === 0 ? '' : `: ${facts.join(', ')}`}`;
}

function describeRun({ event, run_id, state, step_id, result }: Line, states: Map<string, string>): string | undefined {
  if (event !== 'run_moved' || run_id === undefined || state === undefined) return undefined;
  const before = states.get(run_id);
  if (state === 'ended') states.delete(run_id);
  else states.set(run_id, state);
  if (before === state) return undefined;
  if (state === 'ended') return `${run_id} ended: ${result ?? 'in an unknown way'}`;
  if (state === 'running') return `${run_id} ${before === undefined ? 'is under way' : 'goes on'}: ${step_id ?? ''}`;
  return `${run_id} ${state === 'at_gate' ? 'waits at a gate: flotilla diff and approve' : state.replaceAll('_', ' ')}`;
}

function describeService({ event, service }: Line): string | undefined {
  if (event === 'service_ready') return `${service ?? 'a service'} is ready`;
  return event === 'services_ready' ? 'all services are ready' : undefined;
}

function readLine(written: string): Line | undefined {
  try {
    const parsed = Line.safeParse(JSON.parse(written));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

const widest = 300;

/** On one line, without what a terminal would obey. */
function show(line: string): string {
  const clean = line.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
  return clean.length > widest ? `${clean.slice(0, widest - 1)}…` : clean;
}
