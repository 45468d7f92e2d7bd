import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RepositoryOpened } from '@flotilla/contracts/events/step-events';
import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { createGit } from '@flotilla/git/run-git';
import { MemoryBundles } from '@flotilla/testing/memory-bundles';
import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import { ScratchRemote } from '@flotilla/testing/scratch-remote';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CredentialDirectory } from './credentials/credential-directory.ts';
import { RemoteRepositories } from './git/remote-repositories.ts';
import { OpenRepositoryHandler } from './open-repository.handler.ts';

let data: string;
let remote: ScratchRemote;
let bundles: MemoryBundles;

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'merger-open-'));
  remote = new ScratchRemote({ Makefile: 'test:\n\ttrue\n', 'src/b.txt': 'one\n' });
  bundles = new MemoryBundles();
});
afterEach(() => {
  remote.remove();
  rmSync(data, { recursive: true, force: true });
});

test('opening answers the base commit of the default branch and stores it with its history', async () => {
  const answer = await open();
  const head = remote.head();
  expect(answer.outcome).toEqual({
    kind: 'done',
    result: {
      verb: 'open',
      repository: `file:${remote.path}`,
      branch: 'main',
      base: head,
      tree: remote.treeOf(head),
      bundle: `base/${head}`,
    },
  });
  expect(answer.entries).toMatchObject([{ type: 'repository.opened', payload: { files: 2, commit: head } }]);
  expect(RepositoryOpened.payload.safeParse(answer.entries?.[0]?.payload).error).toBeUndefined();
  expect(Buffer.from(bundles.names.get(`base/${head}`)!).toString('latin1')).toContain(head);
});

test('a base that is stored already is not made again', async () => {
  const head = remote.head();
  bundles.names.set(`base/${head}`, new Uint8Array([1]));
  await open();
  expect(bundles.names.get(`base/${head}`)).toEqual(new Uint8Array([1]));
});

test('the branch of the task wins over the branch of the project', async () => {
  const release = remote.advance({ 'src/b.txt': 'two\n' }, 'release');
  const answer = await open({ branch: 'release', project: { branch: 'main' } });
  expect(answer.outcome).toMatchObject({ result: { branch: 'release', base: release } });
});

test('an unknown branch is refused with the branches that there are', async () => {
  await expect(open({ branch: 'mian' })).rejects.toMatchObject({
    code: 'BRANCH_UNKNOWN',
    remedy: 'caller',
    advice: expect.stringContaining('main'),
  });
});

test('a repository without a commit, a path without a repository and an odd address are refused', async () => {
  remote.git('update-ref', '-d', 'refs/heads/main');
  await expect(open()).rejects.toMatchObject({ code: 'REMOTE_EMPTY' });
  await expect(open({ project: { remote: join(data, 'absent') } })).rejects.toMatchObject({ code: 'REMOTE_NOT_FOUND' });
  await expect(open({ project: { remote: 'ext::sh -c id' } })).rejects.toMatchObject({ code: 'REMOTE_URL_REFUSED' });
});

test('a project that nothing could check is refused before anybody works on it, and told to name its checks', async () => {
  const script = (test: string) => ({ 'package.json': JSON.stringify({ scripts: { test } }) });
  remote.advance({ Makefile: 'build:\n\ttrue\n', ...script('echo "Error: no test specified" && exit 1') });
  await expect(open()).rejects.toMatchObject({
    code: 'CHECKS_NOT_FOUND',
    remedy: 'caller',
    advice: expect.stringMatching(/--check .*first tests/),
  });
  expect(bundles.names.size).toBe(0);
  const accepted = { outcome: { kind: 'done' } };
  expect(await open({ project: { checks: ['npm test'] } })).toMatchObject(accepted);
  expect(await open({ project: { unchecked: true } })).toMatchObject(accepted);
  remote.advance(script('node --test'));
  expect(await open()).toMatchObject(accepted);
});

test("a repository in the directories of the fleet is nobody's project", async () => {
  await open();
  const mirror = join(data, 'mirrors');
  const [name] = readdirSync(mirror).filter((entry) => entry.endsWith('.git'));
  await expect(open({ project: { remote: join(mirror, name!) } })).rejects.toMatchObject({
    code: 'REMOTE_URL_REFUSED',
  });
});

interface Wanted {
  readonly branch?: string;
  readonly project?: Partial<OpenStepRequested['project']>;
}

function open({ branch, project }: Wanted = {}) {
  const example = OpenStepRequested.payload.parse(OpenStepRequested.example);
  const request: OpenStepRequested = {
    ...example,
    project: { ...example.project, remote: remote.path, ...project },
    ...(branch === undefined ? {} : { branch }),
  };
  const repositories = new RemoteRepositories({
    git: createGit(),
    mirrorDirectory: join(data, 'mirrors'),
    credentialDirectory: join(data, 'credentials'),
    credentials: new CredentialDirectory(join(data, 'credentials')),
    refusedUnder: [data],
  });
  return new OpenRepositoryHandler(repositories, bundles, () => new Date('2030-01-01T00:00:00Z')).work(
    request,
    new MemoryStepContext(),
  );
}
