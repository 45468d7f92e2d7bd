import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommitId, TreeId } from '@flotilla/contracts/ids';

/** Paths to contents; null deletes. */
export type ScratchFiles = Readonly<Record<string, string | Uint8Array | null>>;

/**
 * A bare git remote in a temporary directory with a first commit on `main`, and beside it the repository of an author, whose
 * commits the remote does not have. Real git, synchronous, for tests.
 */
export class ScratchRemote {
  /** The remote: fit for a project's `remote`. */
  readonly path: string;
  readonly #directory: string;
  readonly #author: string;
  #commits = 0;

  constructor(files: ScratchFiles = { 'README.md': 'A scratch repository.\n' }) {
    this.#directory = mkdtempSync(join(tmpdir(), 'scratch-remote-'));
    this.path = join(this.#directory, 'remote.git');
    this.#author = join(this.#directory, 'author.git');
    for (const path of [this.path, this.#author])
      this.#run(path, ['init', '--quiet', '--bare', '--initial-branch=main']);
    appendFileSync(join(this.#author, 'objects', 'info', 'alternates'), `${join(this.path, 'objects')}\n`);
    this.advance(files);
  }

  /** Somebody pushes a commit to a branch of the remote. */
  advance(files: ScratchFiles, branch = 'main'): CommitId {
    const commit = this.#write(this.path, files, this.find(branch) ?? this.find('main'));
    this.#run(this.path, ['update-ref', `refs/heads/${branch}`, commit]);
    return commit;
  }

  /** A commit on a parent, as an author makes one: the remote does not have it. */
  author(files: ScratchFiles, parent: CommitId, message = 'A change'): CommitId {
    return this.#write(this.#author, files, parent, message);
  }

  head(branch = 'main'): CommitId {
    return CommitId.parse(this.git('rev-parse', '--verify', `refs/heads/${branch}`));
  }

  find(branch: string): CommitId | undefined {
    const [line] = this.git('for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`).split('\n');
    return line === undefined || line === '' ? undefined : CommitId.parse(line);
  }

  treeOf(commit: CommitId): TreeId {
    return TreeId.parse(this.#run(this.#author, ['rev-parse', '--verify', `${commit}^{tree}`]));
  }

  /** A bundle of a commit, without what `exclude` reaches. */
  bundle(commit: CommitId, exclude: readonly CommitId[] = []): Uint8Array {
    const file = join(this.#directory, `${commit}.bundle`);
    this.#run(this.#author, ['update-ref', 'refs/heads/change', commit]);
    this.#run(this.#author, [
      'bundle',
      'create',
      '--quiet',
      file,
      'refs/heads/change',
      ...exclude.map((id) => `^${id}`),
    ]);
    return readFileSync(file);
  }

  /** Runs git on the remote and answers what it printed. */
  git(...args: readonly string[]): string {
    return this.#run(this.path, args);
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #write(repository: string, files: ScratchFiles, parent: CommitId | undefined, message = 'A commit'): CommitId {
    this.#commits += 1;
    const index = { GIT_INDEX_FILE: join(this.#directory, `index-${this.#commits}`) };
    this.#run(repository, parent === undefined ? ['read-tree', '--empty'] : ['read-tree', parent], index);
    for (const [path, content] of Object.entries(files)) {
      if (content === null) {
        this.#run(repository, ['update-index', '--force-remove', path], index);
        continue;
      }
      const file = join(this.#directory, 'content');
      writeFileSync(file, content);
      const blob = this.#run(repository, ['hash-object', '-w', '--no-filters', file]);
      this.#run(repository, ['update-index', '--add', '--cacheinfo', `100644,${blob},${path}`], index);
    }
    const tree = this.#run(repository, ['write-tree'], index);
    const parents = parent === undefined ? [] : ['-p', parent];
    return CommitId.parse(
      this.#run(repository, ['commit-tree', tree, ...parents, '-m', `${message} ${this.#commits}`]),
    );
  }

  #run(repository: string, args: readonly string[], variables: Readonly<Record<string, string>> = {}): string {
    const env = { ...process.env, ...identity, ...variables, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
    const place = args[0] === 'init' ? [...args, repository] : [`--git-dir=${repository}`, ...args];
    return execFileSync('git', place, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  }
}

const identity = {
  GIT_AUTHOR_NAME: 'Somebody',
  GIT_AUTHOR_EMAIL: 'somebody@example.com',
  GIT_COMMITTER_NAME: 'Somebody',
  GIT_COMMITTER_EMAIL: 'somebody@example.com',
};
