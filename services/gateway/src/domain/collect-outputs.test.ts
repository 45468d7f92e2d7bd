import { ToolFinished, ToolStarted } from '@flotilla/contracts/events/journal-events';
import { CheckRan, SetupFinished } from '@flotilla/contracts/events/step-events';
import { expect, test } from 'vitest';
import { collectOutputs } from './collect-outputs.ts';
import { createLog } from './log.fixture.ts';

const build = { stepId: 'build', attempt: 1 };

test('setup, commands of the agent and checks are told in the order they ended, with what was run', () => {
  const log = createLog();
  log.add(SetupFinished, SetupFinished.example, { stepId: 'setup', attempt: 1 });
  log.add(ToolStarted, { callId: '1.0', tool: 'terminal.run', summary: 'npm test' }, build);
  log.add(ToolFinished, { ...ToolFinished.example, tool: 'terminal.run', exitCode: 1, result: 'not ok' }, build);
  log.add(CheckRan, CheckRan.example, { stepId: 'review', attempt: 1 });
  expect(collectOutputs(log.entries).map(({ kind, command, exitCode }) => [kind, command, exitCode])).toEqual([
    ['setup', 'npm ci', undefined],
    ['command', 'npm test', 1],
    ['check', 'npm test', 0],
  ]);
});

test('a tool without an exit code is no command, and setup that did not run printed nothing', () => {
  const log = createLog();
  log.add(ToolStarted, ToolStarted.example, build);
  log.add(ToolFinished, ToolFinished.example, build);
  log.add(SetupFinished, { ...SetupFinished.example, how: 'reused' }, { stepId: 'setup', attempt: 1 });
  expect(collectOutputs(log.entries)).toEqual([]);
});

test('calls with one id in two attempts are two calls', () => {
  const log = createLog();
  for (const attempt of [1, 2]) {
    log.add(
      ToolStarted,
      { callId: '1.0', tool: 'terminal.run', summary: `try ${attempt}` },
      { stepId: 'build', attempt },
    );
  }
  log.add(ToolFinished, { ...ToolFinished.example, exitCode: 0 }, build);
  expect(collectOutputs(log.entries)[0]?.command).toBe('try 1');
});
