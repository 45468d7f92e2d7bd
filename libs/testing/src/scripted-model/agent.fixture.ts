import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AgentPorts, CheckpointPort, JournalEntry, JournalPort, StepSignals } from '@flotilla/agent/ports';
import { createModel, type ModelOptions } from '@flotilla/model/create-model';
import type { Model } from '@flotilla/model/model';
import { openDirectoryWorkspace } from './directory-workspace.ts';

const slugify: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'slugify', type: 'module', scripts: { test: 'node slugify.test.js' } }),
  'slugify.js': "export const slugify = (text) =>\n  text.toLowerCase().replace(/[^a-z]+/g, '-');\n",
  'slugify.test.js':
    "import assert from 'node:assert';\nimport { slugify } from './slugify.js';\nassert.equal(slugify('A 1'), 'a-1');\n",
};
export const keepDigits = { path: 'slugify.js', find: '/[^a-z]+/g', replace: '/[^a-z0-9]+/g' };

export interface ScratchProject extends Disposable {
  readonly root: string;
  /** Keeps trees in a git directory outside the workspace, as the fleet does. */
  readonly checkpoint: CheckpointPort;
  /** Lays a kept tree, or the first one, in place of what is there. */
  restore(tree: string | null): void;
  tree(): string;
}

/** A project in a temporary directory, with its own history of checkpoints. */
export function makeProject(files: Readonly<Record<string, string>> = slugify): ScratchProject {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-agent-'));
  const root = join(home, 'workspace');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const gitDir = join(home, 'git');
  const git = (...argv: readonly string[]) =>
    execFileSync('git', ['--git-dir', gitDir, '--work-tree', root, ...argv], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
    }).trim();
  execFileSync('git', ['init', '--quiet', '--bare', gitDir]);
  const tree = () => {
    git('add', '--all');
    return git('write-tree');
  };
  const first = tree();
  return {
    root,
    tree,
    checkpoint: () => {
      const now = tree();
      return Promise.resolve(
        now === first
          ? { commit: null, tree: null, bundle: null }
          : { commit: 'c'.repeat(40), tree: now, bundle: 'bundle' },
      );
    },
    restore(kept) {
      rmSync(root, { recursive: true });
      mkdirSync(root);
      git('read-tree', kept ?? first);
      git('checkout-index', '--all', '--force');
    },
    [Symbol.dispose]: () => rmSync(home, { recursive: true }),
  };
}

export interface MemoryJournal extends JournalPort {
  readonly entries: JournalEntry[];
  /** The journal as a new process finds it. */
  reopen(): MemoryJournal;
}

export class ProcessDied extends Error {}

/** A durable journal in memory. With `survives`, the append of that number (from 0) kills the process: before or after it is durable. */
export function openMemoryJournal(
  entries: JournalEntry[] = [],
  death?: { readonly append: number; readonly durable: boolean },
): MemoryJournal {
  let appends = 0;
  return {
    entries,
    read: () => Promise.resolve([...entries]),
    append(more) {
      const dies = death?.append === appends;
      appends += 1;
      if (dies && !death.durable) return Promise.reject(new ProcessDied());
      entries.push(...(JSON.parse(JSON.stringify(more)) as JournalEntry[]));
      return dies ? Promise.reject(new ProcessDied()) : Promise.resolve();
    },
    reopen: () => openMemoryJournal(entries),
  };
}

const realClock = {
  now: () => Date.now(),
  after(delayMs: number, callback: () => void) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

export function modelAt(url: string, options: Partial<ModelOptions> = {}): Model {
  return createModel({
    provider: 'compatible',
    model: 'scripted',
    baseUrl: url,
    clock: realClock,
    random: () => 0,
    retries: { firstDelayMs: 1, maxDelayMs: 2 },
    ...options,
  });
}

const calm: StepSignals = { cancelled: false, steering: [] };

export function portsFor(project: ScratchProject, model: Model, more: Partial<AgentPorts> = {}): AgentPorts {
  return {
    model,
    workspace: openDirectoryWorkspace(project.root),
    journal: openMemoryJournal(),
    signals: { cancelled: new AbortController().signal, read: () => Promise.resolve(calm) },
    clock: realClock,
    checkpoint: project.checkpoint,
    ...more,
  };
}
