/** What a capability touches. A path limit on a capability that names no path could not be evaluated, so it is refused. */
export interface Capability {
  readonly summary: string;
  /** True where a call may change the workspace, whatever the caller says of it. */
  readonly mutates: boolean;
  /** `file`: names files; `directory`: names where a walk begins; `none`: names no path. */
  readonly names: 'file' | 'directory' | 'none';
  /** `shell`: a command of the caller; `tests`: the project's own tests; `nothing`: no command at all. */
  readonly runs: 'shell' | 'tests' | 'nothing';
}

const reads = { mutates: false, runs: 'nothing' } as const;
const changes = { mutates: true, runs: 'nothing' } as const;

/** The one set of capabilities. A name that is not here is never granted, however it is spelt in a document. */
export const capabilities = {
  'fs.read': { summary: 'Read a file.', ...reads, names: 'file' },
  'fs.list': { summary: 'List a directory.', ...reads, names: 'directory' },
  'fs.glob': { summary: 'Find files by name.', ...reads, names: 'directory' },
  'fs.grep': { summary: 'Search in files.', ...reads, names: 'directory' },
  'fs.write': { summary: 'Write a file whole.', ...changes, names: 'file' },
  'fs.edit': { summary: 'Replace a passage of a file.', ...changes, names: 'file' },
  'fs.delete': { summary: 'Delete a file.', ...changes, names: 'file' },
  'terminal.run': { summary: 'Run a command in the slot.', mutates: true, names: 'none', runs: 'shell' },
  'git.status': { summary: 'Say which files changed.', ...reads, names: 'none' },
  'git.diff': { summary: 'Show what changed.', ...reads, names: 'none' },
  'git.log': { summary: 'Show the history.', ...reads, names: 'none' },
  'test.detect': { summary: 'Find out how the project is tested.', ...reads, names: 'none' },
  'test.run': { summary: 'Run the tests.', mutates: true, names: 'none', runs: 'tests' },
  'todo.write': { summary: "Write the agent's checklist.", ...reads, names: 'none' },
} as const satisfies Readonly<Record<string, Capability>>;

export type CapabilityId = keyof typeof capabilities;

export const capabilityIds: readonly CapabilityId[] = Object.keys(capabilities).filter(isCapabilityId);

export function isCapabilityId(name: string): name is CapabilityId {
  return Object.hasOwn(capabilities, name);
}

/** Undefined for a name that is not a capability, inherited names such as `constructor` too. */
export function findCapability(name: string): Capability | undefined {
  return isCapabilityId(name) ? capabilities[name] : undefined;
}

/** `fs.*` for `fs.read`: the group that holds everything below one name. There is no group of everything. */
export function groupOf(id: CapabilityId): string {
  return id.replace(/\.[^.]+$/, '.*');
}

/** The capabilities of a group such as `fs.*`; empty for what is no group. */
export function membersOf(group: string): readonly CapabilityId[] {
  return capabilityIds.filter((id) => groupOf(id) === group);
}
