import type { InspectRemote } from '@flotilla/contracts/calls/inspect-remote';
import type { Failure } from '@flotilla/contracts/calls/shapes';
import type { ResponseOf } from '@flotilla/contracts/define-call';
import type { Project } from '@flotilla/contracts/project';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { z } from 'zod';

export type Warning = z.output<typeof Failure>;

/** Whether it counts for a project that its repository tells no test command. */
export function needsDetectedTests({ checks, unchecked }: Pick<Project, 'checks' | 'unchecked'>): boolean {
  return checks.length === 0 && !unchecked;
}

/** What would keep the runs of a project from landing, as its remote is now. */
export function warnOfRemote(
  { name, remote }: Pick<Project, 'name' | 'remote'>,
  { branch, checkedOut, tests }: Pick<ResponseOf<typeof InspectRemote>, 'branch' | 'checkedOut' | 'tests'>,
): readonly Warning[] {
  return [
    ...(checkedOut ? [warn(new FlotillaError(errors.branchCheckedOut, { remote, branch }))] : []),
    ...(tests === 'none' ? [warn(new FlotillaError(errors.testsNotDetected, { project: name, remote, branch }))] : []),
  ];
}

export function warn({ code, message, advice }: FlotillaError): Warning {
  return { code, message, advice };
}
