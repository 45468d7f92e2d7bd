/** What a capability touches. A path limit on a capability that names no path could not be evaluated, so it is refused. */
export interface Capability {
  readonly summary: string;
  /** True where a call may change the workspace, whatever the caller says of it. */
  readonly mutates: boolean;
  /** `file`: names files; `directory`: names where a walk begins; `none`: names no path. */
  readonly names: 'file' | 'directory' | 'none';
}

/** The one set of capabilities. A name that is not here is never granted, however it is spelt in a document. */
export const capabilities = {
  'fs.read': { summary: 'Read a file.', mutates: false, names: 'file' },
  'fs.list': { summary: 'List a directory.', mutates: false, names: 'directory' },
  'fs.glob': { summary: 'Find files by name.', mutates: false, names: 'directory' },
  'fs.grep': { summary: 'Search in files.', mutates: false, names: 'directory' },
  'fs.write': { summary: 'Write a file whole.', mutates: true, names: 'file' },
  'fs.edit': { summary: 'Replace a passage of a file.', mutates: true, names: 'file' },
  'fs.delete': { summary: 'Delete a file.', mutates: true, names: 'file' },
  'terminal.run': { summary: 'Run a command in the slot.', mutates: true, names: 'none' },
  'git.status': { summary: 'Say which files changed.', mutates: false, names: 'none' },
  'git.diff': { summary: 'Show what changed.', mutates: false, names: 'none' },
  'git.log': { summary: 'Show the history.', mutates: false, names: 'none' },
  'test.detect': { summary: 'Find out how the project is tested.', mutates: false, names: 'none' },
  'test.run': { summary: 'Run the tests.', mutates: true, names: 'none' },
  'todo.write': { summary: "Write the agent's checklist.", mutates: false, names: 'none' },
} as const satisfies Readonly<Record<string, Capability>>;

export type CapabilityId = keyof typeof capabilities;

/** Undefined for a name that is not a capability, inherited names such as `constructor` too. */
export function findCapability(name: string): Capability | undefined {
  // The own-key check is what the compiler cannot see.
  return Object.hasOwn(capabilities, name) ? capabilities[name as CapabilityId] : undefined;
}
