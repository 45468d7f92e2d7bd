import type { Role } from './agent-task.ts';
import type { Tool } from './define-tool.ts';
import { finishTool } from './tools/finish.ts';
import { fsDelete } from './tools/fs-delete.ts';
import { fsEdit } from './tools/fs-edit.ts';
import { fsGlob } from './tools/fs-glob.ts';
import { fsGrep } from './tools/fs-grep.ts';
import { fsList } from './tools/fs-list.ts';
import { fsRead } from './tools/fs-read.ts';
import { fsWrite } from './tools/fs-write.ts';
import { gitDiff, gitLog, gitStatus } from './tools/git.ts';
import { terminalRun } from './tools/terminal-run.ts';
import { testDetect } from './tools/test-detect.ts';
import { testRun } from './tools/test-run.ts';
import { todoWrite } from './tools/todo-write.ts';

/** Every tool there is; grants decide which of them a step is offered. */
export const tools: readonly Tool[] = [
  fsRead,
  fsList,
  fsGlob,
  fsGrep,
  fsWrite,
  fsEdit,
  fsDelete,
  terminalRun,
  gitStatus,
  gitDiff,
  gitLog,
  testDetect,
  testRun,
  todoWrite,
];

/** All tools of a role, `finish` included. */
export function toolsOf(role: Role): readonly Tool[] {
  return [...tools, finishTool(role)];
}
