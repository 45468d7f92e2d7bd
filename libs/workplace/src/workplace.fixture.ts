import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Change } from '@flotilla/contracts/change';
import type { CommitId } from '@flotilla/contracts/ids';
import { createGit } from '@flotilla/git/run-git';
import { createModel } from '@flotilla/model/create-model';
import type { Model } from '@flotilla/model/model';
import { connectDocker } from '@flotilla/sandbox/docker-engine';
import { sandboxUserFor } from '@flotilla/sandbox/sandbox-user';
import { createSetupStore, type SetupStore } from '@flotilla/sandbox/setup-store';
import { createSlotPool, type SlotPool } from '@flotilla/sandbox/slot-pool';
import { MemoryBundles } from '@flotilla/testing/memory-bundles';
import { ScratchRemote, type ScratchFiles } from '@flotilla/testing/scratch-remote';
import type { Script } from '@flotilla/testing/scripted-model/script';
import { startScriptedModel, type ScriptedModel } from '@flotilla/testing/scripted-model/start-scripted-model';
import { removeDeliveriesOf } from './slot-reaper.ts';
import { Workplaces } from './workplaces.ts';

/** A library with one defect and a test that bare node runs. */
export const slugify = {
  'package.json': JSON.stringify({ name: 'slugify', type: 'module', scripts: { test: 'node slugify.test.js' } }),
  'slugify.js': "export const slugify = (text) =>\n  text.toLowerCase().replace(/[^a-z]+/g, '-');\n",
  'slugify.test.js':
    "import assert from 'node:assert';\nimport { slugify } from './slugify.js';\nassert.equal(slugify('A 1'), 'a-1');\n",
} as const;
export const keepDigits = { path: 'slugify.js', find: '/[^a-z]+/g', replace: '/[^a-z0-9]+/g' };

export interface Shop extends AsyncDisposable {
  readonly remote: ScratchRemote;
  readonly bundles: MemoryBundles;
  readonly pool: SlotPool;
  readonly setups: SetupStore;
  imageId(): Promise<string>;
  readonly model: Model;
  readonly scripted: ScriptedModel;
  readonly workplaces: Workplaces;
  readonly base: { readonly commit: CommitId; readonly bundle: string };
  /** What every step request on this repository carries. */
  readonly work: { readonly repository: string; readonly branch: string; readonly setupKey: null };
  /** A change that an author made on the base, with its bundle stored. */
  change(files: ScratchFiles): Change;
  /** Containers of this shop that exist now. */
  containers(): readonly string[];
  /** Whether a command runs in one of them whose line contains the text. */
  runs(text: string): boolean;
  /** Another host: the same bucket and model, and nothing in its mirrors. */
  moveHost(): Workplaces;
  /** Another process on this host, which knows nothing of the slots of those before it. */
  restart(): Promise<Workplaces>;
}

/** Real git, real containers, a real HTTP model that follows a script; for tests that need the Docker engine. */
export async function openShop(script: Script, files: ScratchFiles = slugify): Promise<Shop> {
  const directory = mkdtempSync(join(tmpdir(), 'flotilla-shop-'));
  const remote = new ScratchRemote(files);
  const commit = remote.head();
  const bundles = new MemoryBundles();
  bundles.names.set(`base/${commit}`, remote.bundle(commit));

  const installation = `test-${newId()}`;
  const engine = connectDocker(process.env['DOCKER_HOST']);
  const slots = join(directory, 'slots');
  const image = sandboxImage();
  const openPool = () =>
    createSlotPool({
      engine,
      directory: slots,
      installation,
      image,
      limit: 3,
      ready: 0,
      user: sandboxUserFor({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }),
      newId,
      now: () => performance.now(),
    });
  const pool = await openPool();
  const setups = createSetupStore({ directory: join(directory, 'setups'), newId, now: () => performance.now() });
  const scripted = await startScriptedModel({ script });
  const model = createModel({
    provider: 'compatible',
    model: 'scripted',
    baseUrl: scripted.url,
    clock: { now: () => Date.now(), after },
    random: () => 0,
  });
  const containers = () => docker('ps', '--all', '--quiet', '--filter', `label=flotilla.installation=${installation}`);
  let hosts = 0;
  const openHost = (own = pool, host = (hosts += 1)) =>
    new Workplaces({
      git: createGit(),
      mirrorDirectory: join(directory, `mirrors-${host}`),
      bundles,
      pool: own,
      setups,
      removeEarlier: (step) => removeDeliveriesOf({ engine, directory: slots, installation }, step),
    });

  return {
    remote,
    bundles,
    pool,
    setups,
    imageId: () => engine.imageId(image),
    model,
    scripted,
    workplaces: openHost(),
    base: { commit, bundle: `base/${commit}` },
    work: { repository: 'example.com/slugify', branch: 'main', setupKey: null },
    change(changed) {
      const made = remote.author(changed, commit);
      bundles.names.set(`change/${made}`, remote.bundle(made, [commit]));
      return {
        commit: made,
        tree: remote.treeOf(made),
        base: commit,
        bundle: `change/${made}`,
        diffIdentity: '',
        files: [],
      };
    },
    containers,
    runs: (text) => containers().some((container) => docker('top', container).some((line) => line.includes(text))),
    moveHost: () => openHost(),
    restart: async () => openHost(await openPool(), 1),
    async [Symbol.asyncDispose]() {
      await pool.close();
      await model.close();
      await scripted.close();
      for (const container of docker(
        'ps',
        '--all',
        '--quiet',
        '--filter',
        `label=flotilla.installation=${installation}`,
      ))
        docker('rm', '--force', container);
      remote.remove();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** FLOTILLA_SANDBOX_IMAGE, or the newest local flotilla/sandbox. */
export function sandboxImage(): string {
  const [newest] = docker('images', 'flotilla/sandbox', '--format', '{{.Repository}}:{{.Tag}}');
  const image = process.env['FLOTILLA_SANDBOX_IMAGE'] ?? newest;
  if (image === undefined) throw new Error('there is no local flotilla/sandbox image');
  return image;
}

function docker(...args: readonly string[]): readonly string[] {
  return execFileSync('docker', args, { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');
}

function newId(): string {
  return randomBytes(6).toString('hex');
}

function after(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}
