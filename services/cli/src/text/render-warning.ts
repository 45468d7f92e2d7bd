import type { Failure } from '@flotilla/contracts/calls/shapes';
import type { z } from 'zod';
import type { Session } from '../session.ts';
import { nameCommands } from './name-command.ts';
import { visibleText } from './visible-text.ts';

/** A warning of an answer for a person: what it is, and what to do. */
export function renderWarning(
  { code, message, advice }: z.output<typeof Failure>,
  { palette, command }: Pick<Session, 'palette' | 'command'>,
): string {
  return `${palette.yellow('warning')} ${code}: ${visibleText(message)}\n  ${visibleText(nameCommands(advice, command))}`;
}
