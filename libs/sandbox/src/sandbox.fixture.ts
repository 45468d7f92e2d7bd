import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import type { DockerEngine } from './docker-engine.ts';
import { connectDocker } from './docker-engine.ts';
import { sandboxUserFor } from './sandbox-user.ts';
import type { SlotPool, SlotPoolOptions } from './slot-pool.ts';
import { createSlotPool } from './slot-pool.ts';

/** What the real tests share: the local engine, the sandbox image on it, and pools in directories of their own. */
export const newId = () => randomBytes(6).toString('hex');
export const now = () => performance.now();
export const user = sandboxUserFor({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });

export interface PoolFixture extends AsyncDisposable {
  readonly engine: DockerEngine;
  readonly pool: SlotPool;
  readonly options: SlotPoolOptions;
  readonly faults: unknown[];
}

export async function openPool(overrides: Partial<SlotPoolOptions> = {}): Promise<PoolFixture> {
  const engine = connectDocker(process.env.DOCKER_HOST);
  const directory = overrides.directory ?? makeTemporaryDirectory();
  const faults: unknown[] = [];
  const options: SlotPoolOptions = {
    engine,
    directory,
    installation: `test-${newId()}`,
    image: await sandboxImage(),
    limit: 4,
    ready: 0,
    user,
    newId,
    now,
    onFault: (error) => faults.push(error),
    ...overrides,
  };
  const pool = await createSlotPool(options);
  return {
    engine,
    pool,
    options,
    faults,
    async [Symbol.asyncDispose]() {
      await pool.close();
      if (overrides.directory === undefined) fs.rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function makeTemporaryDirectory(): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), 'flotilla-sandbox-'));
}

export const claim = (step = 'build') => ({ run: `run-${newId()}`, step, attempt: 1 });

/** FLOTILLA_SANDBOX_IMAGE, or the newest local flotilla/sandbox. */
async function sandboxImage(): Promise<string> {
  const named = process.env.FLOTILLA_SANDBOX_IMAGE;
  if (named) return named;
  const found = await listImages('flotilla/sandbox');
  const tag = found.toSorted((a, b) => b.Created - a.Created).flatMap(({ RepoTags }) => RepoTags ?? [])[0];
  if (tag === undefined)
    throw new Error('there is no local flotilla/sandbox image, and FLOTILLA_SANDBOX_IMAGE is not set');
  return tag;
}

async function listImages(reference: string): Promise<{ Created: number; RepoTags: string[] | null }[]> {
  const filters = encodeURIComponent(JSON.stringify({ reference: [reference] }));
  return new Promise((resolve, reject) => {
    const request = { socketPath: '/var/run/docker.sock', path: `/images/json?filters=${filters}` };
    http.get(request, async (response) => resolve(JSON.parse((await response.toArray()).join('')))).on('error', reject);
  });
}

export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const end = now() + timeoutMs;
  while (!(await condition())) {
    if (now() > end) throw new Error('the condition did not come true in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
