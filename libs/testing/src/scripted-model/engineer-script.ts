import type { Conversation, PastCall } from './conversation.ts';
import type { CallsReply, Reply, Script, ScriptedCall } from './script.ts';

export interface ScriptedEdit {
  readonly path: string;
  /** Not in the file: the edit counts as made. So edits for several states of a file may stand side by side. */
  readonly find: string;
  readonly replace: string;
}

export interface EngineerTask {
  /** The edits that the goal asks for, in order. */
  readonly edits: readonly ScriptedEdit[];
  /** Commands to run by `terminal.run` before the tests. */
  readonly commands?: readonly string[];
  /** What the executor says it did; default: a sentence that names the files. */
  readonly summary?: string;
}

export interface EngineerOptions extends EngineerTask {
  /** Other edits for goals that contain a text; the first that fits counts. */
  readonly tasks?: readonly (EngineerTask & { readonly goalIncludes: string })[];
  /** A diff that contains this text gets a critical finding. */
  readonly rejects?: string;
  readonly memory?: { readonly title: string; readonly text: string };
}

/**
 * A well-behaved engineer who knows beforehand what to change: reads, plans, edits, tests, reviews and remembers, by the
 * tools on offer, one step a turn. What it does next follows from the conversation alone.
 */
export function engineerScript(options: EngineerOptions): Script {
  return (conversation) => {
    const task = options.tasks?.find(({ goalIncludes }) => readGoal(conversation).includes(goalIncludes)) ?? options;
    switch (conversation.role) {
      case 'planner':
        return plan(conversation, task);
      case 'executor':
        return build(conversation, task);
      case 'reviewer':
        return review(conversation, options);
      case 'scribe':
        return remember(conversation, options);
      default:
        return { kind: 'text', text: 'I am a scripted model and know no such role.' };
    }
  };
}

function plan(conversation: Conversation, { edits }: EngineerTask): Reply {
  const files = filesOf(edits);
  return (
    firstLook(conversation, files) ??
    finish('I know enough to plan.', {
      plan: [
        ...files.map((file, index) => `${index + 1}. Correct ${file}: ${describeEdits(edits, file)}.`),
        `${files.length + 1}. Run the tests of the project and see that they pass.`,
      ].join('\n'),
    })
  );
}

function build(conversation: Conversation, task: EngineerTask): Reply {
  const files = filesOf(task.edits);
  return (
    firstLook(conversation, files) ??
    nextEdit(conversation, task.edits) ??
    nextCommand(conversation, task.commands ?? []) ??
    testAfterChange(conversation) ??
    finish('The tests pass.', { summary: task.summary ?? `Corrected ${files.join(', ')}; the tests pass.` })
  );
}

function review(conversation: Conversation, { rejects }: EngineerOptions): Reply {
  const diff = readFence(conversation, 'diff');
  const file = /^\+\+\+ (?:b\/)?(\S+)/m.exec(diff)?.[1];
  if (
    file !== undefined &&
    file !== '/dev/null' &&
    offers(conversation, 'fs.read') &&
    !wasCalled(conversation, 'fs.read')
  )
    return use('I read the changed file around the diff.', [{ tool: 'fs.read', arguments: { path: file } }]);
  if (rejects !== undefined && diff.includes(rejects))
    return finish('This must not land.', {
      verdict: 'request_changes',
      summary: 'The change does something that it must not do.',
      findings: [
        {
          severity: 'critical',
          ...(file === undefined ? {} : { path: file }),
          text: `The change contains ${JSON.stringify(rejects)}.`,
        },
      ],
    });
  return finish('The change does what is asked and nothing else.', {
    verdict: 'approve',
    summary: 'Small, to the point, and covered by the tests that failed before.',
    findings: [
      {
        severity: 'suggestion',
        ...(file === undefined ? {} : { path: file }),
        text: 'A comment could say why the old line was wrong.',
      },
    ],
  });
}

function remember(conversation: Conversation, { memory }: EngineerOptions): Reply {
  const { title, text } = memory ?? {
    title: 'How this project is tested',
    text: 'Its own test command covers the code that was changed; run it after every edit.',
  };
  return finish('I write it down.', {
    summary: `The goal was met: ${readGoal(conversation).trim().split('\n')[0] ?? ''}`,
    memories: [{ kind: 'learning', title, text }],
  });
}

/** Lists, looks for tests, then reads a test and the files to be changed: whatever of it is on offer and not done yet. */
function firstLook(conversation: Conversation, files: readonly string[]): CallsReply | undefined {
  const wanted: ScriptedCall[] = [];
  if (!wasCalled(conversation, 'fs.list')) wanted.push({ tool: 'fs.list', arguments: {} });
  if (!wasCalled(conversation, 'fs.glob'))
    wanted.push({ tool: 'fs.glob', arguments: { pattern: '**/{*test*,test/*,tests/*}' } });
  const look = wanted.filter(({ tool }) => offers(conversation, tool));
  if (look.length > 0) return use('I look around first.', look);
  if (!offers(conversation, 'fs.read') || wasCalled(conversation, 'fs.read')) return undefined;
  const test = findTest(conversation);
  const reads = [...(test === undefined ? [] : [test]), ...files];
  return use(
    'I read the test and the source.',
    reads.map((path) => ({ tool: 'fs.read', arguments: { path } })),
  );
}

function findTest({ calls }: Conversation): string | undefined {
  const listed = calls.find(({ tool, status }) => tool === 'fs.glob' && status === 'ok')?.result ?? '';
  return listed.split('\n').find((line) => /^[\w./-]+\.\w+$/.test(line) && !line.includes('node_modules'));
}

function nextEdit(conversation: Conversation, edits: readonly ScriptedEdit[]): Reply | undefined {
  if (!offers(conversation, 'fs.edit')) return undefined;
  const edit = edits.find(({ path, find }) => !isMade(conversation, path, find));
  if (edit === undefined) return undefined;
  return use(`I change ${edit.path}.`, [
    { tool: 'fs.edit', arguments: { path: edit.path, find: edit.find, replace: edit.replace } },
  ]);
}

/** Made, or found to be made already, since the files were last put back. A refused edit is not tried again. */
function isMade(conversation: Conversation, path: string, find: string): boolean {
  return callsSinceRestored(conversation).some(
    (call) =>
      call.tool === 'fs.edit' &&
      call.arguments['path'] === path &&
      call.arguments['find'] === find &&
      !isUncertain(call),
  );
}

function nextCommand(conversation: Conversation, commands: readonly string[]): Reply | undefined {
  if (!offers(conversation, 'terminal.run')) return undefined;
  const ran = callsSinceRestored(conversation).filter((call) => call.tool === 'terminal.run' && !isUncertain(call));
  const command = commands.find((each) => !ran.some((call) => call.arguments['command'] === each));
  return command === undefined
    ? undefined
    : use('I run a command.', [{ tool: 'terminal.run', arguments: { command } }]);
}

function testAfterChange(conversation: Conversation): Reply | undefined {
  if (!offers(conversation, 'test.run')) return undefined;
  const calls = callsSinceRestored(conversation);
  const lastChange = calls.findLastIndex(({ tool }) => tool === 'fs.edit' || tool === 'terminal.run');
  const tested = calls.slice(lastChange + 1).some((call) => call.tool === 'test.run' && !isUncertain(call));
  return tested ? undefined : use('Now the tests.', [{ tool: 'test.run', arguments: {} }]);
}

function callsSinceRestored({ calls, messages }: Conversation): readonly PastCall[] {
  const restored = messages.findLastIndex(({ role, text }) => role === 'user' && text.includes('(WORKSPACE_RESTORED)'));
  return calls.filter(({ at }) => at > restored);
}

/** Whether the call did anything is not known: it was interrupted, or never ran. */
function isUncertain({ status }: PastCall): boolean {
  return status === undefined || status === 'INTERRUPTED' || status === 'NOT_RUN';
}

function wasCalled(conversation: Conversation, tool: string): boolean {
  return conversation.calls.some((call) => call.tool === tool && !isUncertain(call));
}

function offers({ tools }: Conversation, tool: string): boolean {
  return tools.includes(tool);
}

function use(text: string, calls: readonly ScriptedCall[]): CallsReply {
  return { kind: 'calls', text, calls };
}

function finish(text: string, args: Readonly<Record<string, unknown>>): CallsReply {
  return use(text, [{ tool: 'agent.finish', arguments: args }]);
}

function readGoal(conversation: Conversation): string {
  return readFence(conversation, 'goal');
}

function readFence({ messages }: Conversation, name: string): string {
  return new RegExp(`<(data-\\S+) name="${name}">\\n([\\s\\S]*?)\\n</\\1>`).exec(messages[0]?.text ?? '')?.[2] ?? '';
}

function filesOf(edits: readonly ScriptedEdit[]): readonly string[] {
  return [...new Set(edits.map(({ path }) => path))];
}

function describeEdits(edits: readonly ScriptedEdit[], file: string): string {
  return edits
    .filter(({ path }) => path === file)
    .map(({ find, replace }) => `${JSON.stringify(find.slice(0, 80))} becomes ${JSON.stringify(replace.slice(0, 80))}`)
    .join('; ');
}
