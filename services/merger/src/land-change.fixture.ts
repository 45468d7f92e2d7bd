import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Change, Evidence } from '@flotilla/contracts/change';
import type { CommitId, TreeId } from '@flotilla/contracts/ids';
import { LandStepRequested } from '@flotilla/contracts/messages/land-step-requested';
import { createGit, type RunGit } from '@flotilla/git/run-git';
import { MemoryBundles } from '@flotilla/testing/memory-bundles';
import { ScratchRemote } from '@flotilla/testing/scratch-remote';
import { CredentialDirectory } from './credentials/credential-directory.ts';
import { openRemoteMirror, type RemoteMirrors } from './git/open-remote-mirror.ts';
import { type CandidateStore, RemoteTargets } from './git/remote-target.ts';
import { LandChangeHandler } from './land-change.handler.ts';
import type { MergeLease } from './lease/merge-lease.ts';

/** Nobody else lands. */
const freeLease: MergeLease = { hold: (_lane, work) => work(new AbortController().signal) };

export interface LandingParts {
  readonly git?: RunGit;
  readonly lease?: MergeLease;
  readonly bundles?: CandidateStore;
  /** Another host: it has mirrors of its own. */
  readonly host?: string;
}

/** A remote with a base commit, a change on it, and mergers that land it. */
export class LandingScene {
  readonly remote: ScratchRemote;
  readonly bundles = new MemoryBundles();
  readonly base: CommitId;
  readonly #data = mkdtempSync(join(tmpdir(), 'merger-'));

  constructor() {
    this.remote = new ScratchRemote({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
    this.base = this.remote.head();
    this.bundles.names.set(`base/${this.base}`, this.remote.bundle(this.base));
  }

  mirrors({ git = createGit(), host = 'host' }: LandingParts = {}): RemoteMirrors {
    const credentialDirectory = join(this.#data, 'credentials');
    return {
      git,
      mirrorDirectory: join(this.#data, host, 'mirrors'),
      credentialDirectory,
      credentials: new CredentialDirectory(credentialDirectory),
      refusedUnder: [this.#data],
    };
  }

  merger(parts: LandingParts = {}): LandChangeHandler {
    const clock = () => new Date('2030-01-01T00:00:00Z');
    const targets = new RemoteTargets({ mirrors: this.mirrors(parts), bundles: parts.bundles ?? this.bundles, clock });
    return new LandChangeHandler(targets, parts.lease ?? freeLease);
  }

  /** A change that an author made on a base, with its bundle stored. */
  change(files: Readonly<Record<string, string | null>>, base = this.base): Change {
    const commit = this.remote.author(files, base);
    const bundle = `run/build/${commit}`;
    this.bundles.names.set(bundle, this.remote.bundle(commit, [base]));
    return { commit, tree: this.remote.treeOf(commit), base, bundle, diffIdentity: 'as the builder said', files: [] };
  }

  request(approved: Change, parts: Partial<LandStepRequested> = {}): LandStepRequested {
    return {
      ...LandStepRequested.payload.parse(LandStepRequested.example),
      project: { ...LandStepRequested.payload.parse(LandStepRequested.example).project, remote: this.remote.path },
      base: { commit: this.base, bundle: `base/${this.base}` },
      approved,
      evidence: [passed(approved.tree)],
      ...parts,
    };
  }

  /** Commits that a host keeps for the run of a request. */
  async pinned(request: LandStepRequested): Promise<readonly string[]> {
    const mirror = await openRemoteMirror(this.mirrors(), request.project);
    const args = ['for-each-ref', '--format=%(objectname)', `refs/flotilla/${request.runId}/`];
    return (await mirror.run({ args })).stdout.toString('utf8').trim().split('\n');
  }

  /** How many commits on the branch's own line bring the change in: itself, or a merge of it. */
  timesLanded(change: Change): number {
    const line = this.remote.git('log', '--first-parent', '--format=%H %P', 'main').split('\n');
    const brings = line
      .map((commit) => commit.split(' '))
      .filter(([id, , second]) => [id, second].includes(change.commit));
    return brings.length;
  }

  /** Brings the branch and the bucket back to what they are now, and forgets every mirror. */
  remember(): () => void {
    const head = this.remote.head();
    const bundles = [...this.bundles.names];
    return () => {
      this.remote.git('update-ref', 'refs/heads/main', head);
      this.bundles.names.clear();
      for (const [name, bytes] of bundles) this.bundles.names.set(name, bytes);
      for (const host of readdirSync(this.#data)) rmSync(join(this.#data, host), { recursive: true, force: true });
    };
  }

  /** Gives back what the kernel gives back of a process that ended: its locks on the mirrors. */
  unlockMirrors(host = 'host'): void {
    const mirrors = join(this.#data, host, 'mirrors');
    if (!existsSync(mirrors)) return;
    for (const name of readdirSync(mirrors)) if (name.endsWith('.lock')) rmSync(join(mirrors, name));
  }

  remove(): void {
    this.remote.remove();
    rmSync(this.#data, { recursive: true, force: true });
  }
}

export function passed(tree: TreeId): Evidence {
  return { tree, image: 'box:1', checks: ['npm test'] };
}
