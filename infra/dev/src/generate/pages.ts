import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryDirectory } from '../repository.ts';
import { callsPage } from './calls-page.ts';
import { cliPage } from './cli-page.ts';
import { errorsPage } from './errors-page.ts';
import { eventsPage } from './events-page.ts';
import { messagesPage } from './messages-page.ts';
import { openApiPage } from './open-api-page.ts';
import type { Page } from './page.ts';
import { policyPage } from './policy-page.ts';
import { protoPage } from './proto-page.ts';
import { settingsPage } from './settings-page.ts';
import { topologiesPage } from './topologies-page.ts';

/** Every generated file of the clone. */
export async function createPages(): Promise<readonly Page[]> {
  return [
    messagesPage(),
    eventsPage(),
    callsPage(),
    errorsPage(),
    settingsPage(),
    cliPage(),
    policyPage(),
    await topologiesPage(),
    openApiPage(await readVersion()),
    protoPage(),
  ];
}

async function readVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(repositoryDirectory, 'package.json'), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '';
}

/** Pages whose file is not what would be written now. */
export async function findStale(pages: readonly Page[], root: string): Promise<readonly Page[]> {
  const stale = await Promise.all(
    pages.map(async (page) => {
      const held = await readFile(join(root, page.path), 'utf8').catch(() => undefined);
      return held === page.content ? [] : [page];
    }),
  );
  return stale.flat();
}
