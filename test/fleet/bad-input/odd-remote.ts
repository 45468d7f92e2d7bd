import { execFileSync } from 'node:child_process';

const identity = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

/** Runs git on a bare repository without any file of it being checked out. Names in its output are bytes, one a character. */
export function git(
  repository: string,
  args: readonly string[],
  input: string | Uint8Array = '',
  environment: Readonly<Record<string, string>> = {},
): string {
  const env = { PATH: process.env['PATH'], ...identity, ...environment };
  return execFileSync('git', [`--git-dir=${repository}`, ...args], { env, input, maxBuffer: 64 * 1024 * 1024 })
    .toString('latin1')
    .trim();
}

interface OddEntry {
  readonly mode: '100644' | '100755' | '120000' | '160000';
  readonly path: Uint8Array;
  /** Text of a file, target of a link, commit of a submodule. */
  readonly content: string;
}

const entry = (mode: OddEntry['mode'], path: string | Uint8Array, content: string): OddEntry => ({
  mode,
  path: typeof path === 'string' ? Buffer.from(path) : path,
  content,
});

const absentCommit = 'd'.repeat(40);
const pointer =
  'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n';

/** What repositories have that is no ordinary file of an ordinary name. */
export const oddEntries: readonly OddEntry[] = [
  entry('160000', 'vendor/lib', absentCommit),
  entry('100644', '.gitmodules', '[submodule "lib"]\n\tpath = vendor/lib\n\turl = https://git.invalid/lib.git\n'),
  entry('100644', '.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n*.js text eol=crlf ident\n'),
  entry('100644', '.lfsconfig', '[lfs]\n\turl = http://169.254.169.254/\n'),
  entry('100644', 'model.bin', pointer),
  entry('120000', 'link-inside', 'calculator.js'),
  entry('120000', 'link-outside', '/etc/passwd'),
  entry('120000', 'link-up', '../../../../etc/shadow'),
  entry('120000', 'link-nowhere', 'absent'),
  entry('120000', 'link-self', 'link-self'),
  entry('120000', 'links', '/'),
  entry('100644', 'new\nline', 'x\n'),
  entry('100644', 'carriage\rreturn\tand tab', 'x\n'),
  entry('100644', 'escape\u001b[2Jd', 'x\n'),
  entry('100644', 'safe\u202egnp.js', 'x\n'),
  entry('100644', 'tag\u{e0041}s', 'x\n'),
  entry('100644', Buffer.from([0x62, 0xff, 0xfe, 0x2e, 0x63]), 'x\n'),
  entry('100644', 'README', 'upper\n'),
  entry('100644', 'readme', 'lower\n'),
  entry('100644', 'n'.repeat(255), 'x\n'),
  entry('100644', '--output=PWNED', 'x\n'),
  entry('100644', '-rf', 'x\n'),
  entry('100644', ' leading and trailing ', 'x\n'),
  entry('100644', 'a:b*?"<>|\\c', 'x\n'),
  entry('100644', "quote's $(touch PWNED) `id`", 'x\n'),
  entry('100644', 'caf\u00e9', 'composed\n'),
  entry('100644', 'cafe\u0301', 'decomposed\n'),
  entry('100644', `${'deep/'.repeat(60)}file`, 'x\n'),
  entry('100755', 'tool', '#!/bin/sh\nexit 0\n'),
  entry('100644', 'empty', ''),
];

/** Commits the odd entries on top of a branch. */
export function commitOddEntries(repository: string, branch: string): void {
  const index = { GIT_INDEX_FILE: `${repository}/odd-index` };
  const run = (args: readonly string[], input?: string | Uint8Array) => git(repository, args, input, index);
  run(['read-tree', branch]);
  const lines = oddEntries.map(({ mode, path, content }) => {
    const id = mode === '160000' ? content : run(['hash-object', '-w', '--no-filters', '--stdin'], content);
    return Buffer.concat([Buffer.from(`${mode} ${id}\t`), path, Buffer.from('\0')]);
  });
  run(['update-index', '--add', '-z', '--index-info'], Buffer.concat(lines));
  const commit = run(['commit-tree', run(['write-tree']), '-p', branch, '-m', 'Odd']);
  run(['update-ref', `refs/heads/${branch}`, commit]);
}

/** Mode, id and name of everything in a commit, names as bytes. */
export function listEntries(repository: string, commit: string): readonly string[] {
  return git(repository, ['ls-tree', '-r', '-z', commit]).split('\0');
}
