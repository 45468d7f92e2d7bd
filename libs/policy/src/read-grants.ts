import { GrantLimits, type Grant, type Grants } from '@flotilla/contracts/grants';
import {
  capabilityIds,
  findCapability,
  groupOf,
  isCapabilityId,
  membersOf,
  type CapabilityId,
} from './capabilities.ts';
import { showText } from './check-path.ts';
import { compilePathPattern } from './path-pattern.ts';

export interface GrantNote {
  /** Where in the document, for example `fs.write.paths.0`. */
  readonly path: string;
  readonly reason: string;
}

export type GrantReading =
  | {
      readonly kind: 'grants';
      /** By capability alone: groups are told member by member, and what grants nothing is `false`. */
      readonly grants: Grants;
      /** Names that are no capability. They grant nothing, and whoever loads the document is told. */
      readonly withheld: readonly GrantNote[];
    }
  | { readonly kind: 'rejected'; readonly problems: readonly [GrantNote, ...GrantNote[]] };

/**
 * Reads grants as a document states them. The keys are capabilities (`fs.read`) or groups (`fs.*`, everything below `fs.`);
 * the grant of a capability itself counts before that of its group, except that what a group withholds stays withheld. A grant
 * is `true`, `false`, null (not granted), `ask`, or a mapping with at least one limit; one glob or class may stand for a list
 * of one. Anything else rejects the document, so that a misspelt limit is never no limit: other words (`no`, `"false"`),
 * numbers, unknown limits and classes, a wildcard for everything, names that every object inherits.
 */
export function readGrants(document: unknown): GrantReading {
  if (!isMapping(document)) return reject([{ path: '', reason: 'grants are a mapping of capabilities' }]);
  const problems: GrantNote[] = [];
  const withheld: GrantNote[] = [];
  const read = new Map<string, Grant>();
  for (const [name, value] of Object.entries(document)) {
    const members = isCapabilityId(name) ? [name] : membersOf(name);
    const path = showText(name);
    const grant = readGrant(value);
    if (grant.kind === 'rejected') problems.push(...grant.problems.map((each) => below(path, each)));
    else {
      const cause = whyNoName(name);
      if (cause !== undefined) problems.push({ path, reason: cause });
      else if (members.length === 0) withheld.push({ path, reason: unknownName });
      else problems.push(...whyNotEvaluable(members, grant.grant).map((each) => below(path, each)));
      read.set(name, grant.grant);
    }
  }
  const [first, ...rest] = problems;
  if (first !== undefined) return reject([first, ...rest]);
  return { kind: 'grants', grants: Object.fromEntries(expand(read)), withheld };
}

function reject(problems: readonly [GrantNote, ...GrantNote[]]): GrantReading {
  return { kind: 'rejected', problems };
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function below(path: string, note: GrantNote): GrantNote {
  return { path: note.path === '' ? path : `${path}.${note.path}`, reason: note.reason };
}

type Reading =
  | { readonly kind: 'grant'; readonly grant: Grant }
  | { readonly kind: 'rejected'; readonly problems: readonly GrantNote[] };

function readGrant(value: unknown): Reading {
  if (value === null) return { kind: 'grant', grant: false };
  if (typeof value === 'boolean' || value === 'ask') return { kind: 'grant', grant: value };
  if (!isMapping(value)) {
    const shown = typeof value === 'string' ? showText(value.slice(0, 80)) : typeof value;
    return { kind: 'rejected', problems: [{ path: '', reason: `"${shown}" is not true, false, ask or limits` }] };
  }
  if (Object.keys(value).length === 0)
    return { kind: 'rejected', problems: [{ path: '', reason: 'an empty mapping limits nothing; write true' }] };
  const lists = ['paths', 'exclude', 'classes'].filter((key) => Object.hasOwn(value, key));
  const whole = Object.fromEntries(
    lists.map((key) => [key, typeof value[key] === 'string' ? [value[key]] : value[key]]),
  );
  const limits = GrantLimits.safeParse({ ...value, ...whole });
  if (limits.success) return { kind: 'grant', grant: limits.data };
  const problems = limits.error.issues.map((issue) => {
    const key = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    return { path: [...issue.path, ...key].map((part) => showText(String(part))).join('.'), reason: issue.message };
  });
  return { kind: 'rejected', problems };
}

const unknownName = `there is no such capability, so nothing is granted; there are ${capabilityIds.join(', ')}`;

/** A name that is merely unknown grants nothing and harms nothing; these were written to reach further than a name does. */
function whyNoName(name: string): string | undefined {
  if (name in Object.prototype || name === 'prototype') return 'it is a name that every object has';
  if (name.includes('*') && !/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\.\*$/.test(name))
    return 'a wildcard stands for everything below one name, for example fs.*';
  return undefined;
}

/** A limit that says nothing about a capability could not be decided on, and is a mistake. */
function whyNotEvaluable(members: readonly CapabilityId[], grant: Grant): readonly GrantNote[] {
  if (typeof grant !== 'object') return [];
  const limitsPaths = grant.paths !== undefined || grant.exclude !== undefined;
  for (const id of members) {
    const capability = findCapability(id);
    if (limitsPaths && capability?.names === 'none')
      return [{ path: '', reason: `${id} names no paths, so they cannot be limited` }];
    if (grant.classes !== undefined && capability?.runs === 'nothing')
      return [{ path: '', reason: `${id} runs no commands, so their classes cannot be limited` }];
  }
  return [...checkPatterns('paths', grant.paths), ...checkPatterns('exclude', grant.exclude)];
}

function checkPatterns(path: string, patterns: readonly string[] | undefined): readonly GrantNote[] {
  return (patterns ?? []).flatMap((pattern, index) => {
    const compiled = compilePathPattern(pattern);
    return compiled.kind === 'invalid' ? [{ path: `${path}.${index}`, reason: compiled.reason }] : [];
  });
}

function expand(read: ReadonlyMap<string, Grant>): readonly (readonly [CapabilityId, Grant])[] {
  return capabilityIds.flatMap((id) => {
    const ofGroup = read.get(groupOf(id));
    const grant = ofGroup === false ? false : (read.get(id) ?? ofGroup);
    return grant === undefined ? [] : [[id, grant] as const];
  });
}
