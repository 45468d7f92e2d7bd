import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { repositoryDirectory } from '../repository.ts';
import { GENERATE_COMMAND } from './page.ts';
import { createPages, findStale } from './pages.ts';

const stale = await findStale(await createPages(), repositoryDirectory);
if (process.argv.includes('--check')) {
  for (const { path } of stale) process.stderr.write(`${path} is stale: run "${GENERATE_COMMAND}" and commit it\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const { path, content } of stale) {
    await mkdir(dirname(join(repositoryDirectory, path)), { recursive: true });
    await writeFile(join(repositoryDirectory, path), content);
    process.stdout.write(`${path}\n`);
  }
}
