import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const left = new Set(['node_modules', 'dist', '.git', '.nx', '.data', 'coverage']);

/**
 * A fresh clone of what lies here, without build output and caches, in which a test may plant what it likes. Its packages
 * are its own; what they depend on is this clone's.
 */
export class ScratchClone implements Disposable {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-clone-')));

  constructor() {
    cpSync(root, this.directory, { recursive: true, filter: (path) => !left.has(basename(path)) });
    const [modules, own] = [join(root, 'node_modules'), join(this.directory, 'node_modules')];
    mkdirSync(own);
    for (const name of readdirSync(modules)) {
      // The links to the packages of the workspace are relative: copied as they are, they lead to the copies.
      if (name === '@flotilla')
        cpSync(join(modules, name), join(own, name), { recursive: true, verbatimSymlinks: true });
      else symlinkSync(join(modules, name), join(own, name));
    }
  }

  plant(files: Readonly<Record<string, string>>): void {
    for (const [path, source] of Object.entries(files)) {
      const file = join(this.directory, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, source);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
