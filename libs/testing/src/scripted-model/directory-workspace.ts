import { spawn } from 'node:child_process';
import { glob, lstat, mkdir, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { CommandResult, TextMatch, WorkspacePort } from '@flotilla/agent/ports';

/**
 * A workspace that is a plain directory of this machine, with commands run by /bin/sh on it. For tests of trusted content
 * only: it contains nothing.
 */
export function openDirectoryWorkspace(root: string): WorkspacePort {
  const at = (path: string) => join(root, path);
  return {
    async resolve(path) {
      const base = await realpath(root);
      const parts = join(base, path);
      const found = await realpath(parts).catch(() => parts);
      const canonical = relative(base, found);
      if (canonical === '..' || canonical.startsWith(`..${sep}`))
        throw Object.assign(new Error('outside the workspace'), { code: 'ELOOP' });
      return canonical === '' ? '.' : canonical;
    },
    async read(path, limitBytes) {
      const bytes = await readFile(at(path));
      return { bytes: bytes.subarray(0, limitBytes), sizeBytes: bytes.length };
    },
    async list(path) {
      const entries = await readdir(at(path), { withFileTypes: true });
      return entries
        .filter((entry) => entry.name !== '.git')
        .sort((left, right) => (left.name < right.name ? -1 : 1))
        .map((entry) => ({
          name: entry.name,
          kind: entry.isDirectory() ? 'directory' : entry.isFile() ? 'file' : entry.isSymbolicLink() ? 'link' : 'other',
        }));
    },
    async glob(pattern, { path, limit }) {
      const items = await findFiles(root, pattern, path);
      return { items: items.slice(0, limit), truncated: items.length > limit };
    },
    async grep({ pattern, regex, ignoreCase, path, glob: only = '**/*', limit }) {
      const matcher = new RegExp(
        regex ? pattern : pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
        ignoreCase ? 'i' : '',
      );
      const items: TextMatch[] = [];
      for (const file of await findFiles(root, only, path)) {
        const lines = (await readFile(at(file), 'utf8')).split('\n');
        lines.forEach((text, index) => (matcher.test(text) ? items.push({ path: file, line: index + 1, text }) : 0));
      }
      return { items: items.slice(0, limit), truncated: items.length > limit };
    },
    async write(path, text) {
      const created = await stat(at(path)).then(
        () => false,
        () => true,
      );
      await mkdir(dirname(at(path)), { recursive: true });
      await writeFile(at(path), text);
      return created;
    },
    delete: (path) => rm(at(path)),
    run: (command, options) => {
      const argv = 'shell' in command ? ['/bin/sh', '-c', command.shell] : command.argv;
      return runIn(root, argv, options);
    },
  };
}

async function findFiles(root: string, pattern: string, path: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const file of glob(pattern, {
    cwd: root,
    exclude: (name) => name === '.git' || name === 'node_modules',
  })) {
    const below = path === '.' || file.startsWith(`${path}/`);
    if (below && (await lstat(join(root, file))).isFile()) found.push(file);
  }
  return found.sort();
}

type RunOptions = Parameters<WorkspacePort['run']>[1];

function runIn(
  cwd: string,
  argv: readonly string[],
  { timeoutMs, limitBytes, signal, onOutput }: RunOptions,
): Promise<CommandResult> {
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  return new Promise((resolve, reject) => {
    const startedAtMs = performance.now();
    const child = spawn(argv[0] ?? '', argv.slice(1), {
      cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '' },
    });
    const killTree = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It ended by itself just now.
      }
    };
    let timedOut = false;
    let output = '';
    let truncated = false;
    const timer = setTimeout(() => {
      timedOut = true;
      killTree();
    }, timeoutMs);
    signal.addEventListener('abort', killTree, { once: true });
    const take = (chunk: Buffer) => {
      onOutput?.(chunk.toString());
      truncated ||= output.length + chunk.length > limitBytes;
      output = (output + chunk.toString()).slice(0, limitBytes);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', reject);
    child.on('close', (exitCode) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', killTree);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve({ exitCode, output, truncated, timedOut, durationMs: Math.round(performance.now() - startedAtMs) });
    });
  });
}
