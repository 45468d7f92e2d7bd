import type { Rule } from '../rule.ts';

/** git: the verb decides; options of git itself may point it at another repository or give it programs to run. */
export const gitRules: readonly Rule[] = [
  {
    names: 'git',
    is: 'GIT_MUTATION',
    bare: 'READ_ONLY',
    other: 'GIT_MUTATION',
    valued: '-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --list-cmds',
    effects: [
      {
        on: '--git-dir --work-tree --config-env --namespace',
        is: 'MUTATING',
        why: 'obeys a repository or a configuration that is named',
      },
      { on: '--exec-path', is: 'MUTATING', why: 'takes its own programs from elsewhere', when: /./ },
      { on: '-p --paginate', is: 'MUTATING', why: 'runs the configured pager' },
    ],
    judge: 'git',
    verbs: {
      READ_ONLY:
        'status annotate rev-parse rev-list ls-files ls-tree describe name-rev merge-base for-each-ref show-ref var version help check-ignore check-attr check-mailmap check-ref-format count-objects cherry show-branch merge-tree get-tar-commit-id patch-id show-index verify-pack verify-commit verify-tag column stripspace fmt-merge-msg blame',
      GIT_MUTATION:
        'add commit merge cherry-pick revert mv rm am init gc repack pack-refs update-index read-tree write-tree commit-tree mktree mktag unpack-objects index-pack fast-import rerere replace maintenance checkout-index pack-objects prune-packed stage unpack-file mailsplit merge-file merge-index merge-one-file multi-pack-index commit-graph',
      MUTATING: 'mergetool gui citool gitk instaweb web--browse interpret-trailers mailinfo bugreport diagnose shell',
      NETWORK: 'svn p4 cvsimport daemon http-fetch http-backend request-pull upload-pack upload-archive receive-pack',
      REMOTE_MUTATION: 'send-email imap-send http-push send-pack',
    },
    forms: {
      'log show diff diff-tree diff-index diff-files whatchanged range-diff shortlog': {
        is: 'READ_ONLY',
        reads: true,
        valued:
          '-O -S -G -n -l --output --author --grep --since --until --after --before --format --pretty --committer',
        effects: [
          { on: '--output', is: 'MUTATING', why: 'writes to a file', value: 'file' },
          { on: '--ext-diff --textconv', is: 'MUTATING', why: 'runs the configured helpers' },
        ],
      },
      grep: {
        is: 'READ_ONLY',
        reads: true,
        pattern: true,
        valued: '-e -f -A -B -C -m --max-depth --max-count --threads',
        effects: [
          { on: '-O --open-files-in-pager', is: 'MUTATING', why: 'opens what it finds with a program', value: 'shell' },
        ],
      },
      'cat-file': {
        is: 'READ_ONLY',
        reads: true,
        effects: [{ on: '--textconv --filters', is: 'MUTATING', why: 'runs the configured helpers' }],
      },
      branch: { is: 'READ_ONLY', judge: 'git-branch' },
      tag: { is: 'READ_ONLY', judge: 'git-tag' },
      config: { is: 'READ_ONLY', valued: '-f --file --blob --type --default --comment --value', judge: 'git-config' },
      push: {
        is: 'REMOTE_MUTATION',
        valued: '-o --push-option --repo --receive-pack --exec',
        effects: [
          {
            on: '--receive-pack --exec',
            is: 'REMOTE_MUTATION',
            why: 'runs a program on the other side',
            value: 'shell',
          },
        ],
        judge: 'git-push',
      },
      pull: {
        is: 'NETWORK',
        why: 'fetches and changes the working tree',
        valued: '--upload-pack -s -X --strategy --depth',
        effects: [{ on: '--upload-pack', is: 'NETWORK', why: 'runs a program that is named', value: 'shell' }],
      },
      'fetch ls-remote fetch-pack': {
        is: 'NETWORK',
        valued: '--upload-pack --depth -j --jobs --exec --server-option -o',
        effects: [{ on: '--upload-pack --exec', is: 'NETWORK', why: 'runs a program that is named', value: 'shell' }],
      },
      clone: {
        is: 'NETWORK',
        valued:
          '-u --upload-pack -b --branch -o --origin -c --config --depth -j --jobs --template --reference --filter --separate-git-dir --shallow-since',
        effects: [{ on: '-u --upload-pack', is: 'NETWORK', why: 'runs a program that is named', value: 'shell' }],
      },
      checkout: {
        is: 'GIT_MUTATION',
        effects: [
          { on: '-f --force', is: 'GIT_MUTATION', why: 'drops changes that are not committed', irreversible: true },
        ],
        judge: 'git-discard',
      },
      restore: { is: 'GIT_MUTATION', valued: '-s --source', judge: 'git-discard' },
      switch: {
        is: 'GIT_MUTATION',
        effects: [
          {
            on: '-f --force --discard-changes',
            is: 'GIT_MUTATION',
            why: 'drops changes that are not committed',
            irreversible: true,
          },
        ],
      },
      reset: {
        is: 'GIT_MUTATION',
        effects: [
          { on: '--hard', is: 'GIT_MUTATION', why: 'drops changes that are not committed', irreversible: true },
        ],
      },
      clean: { is: 'READ_ONLY', valued: '-e --exclude', judge: 'git-clean' },
      fsck: { is: 'READ_ONLY', effects: [{ on: '--lost-found', is: 'GIT_MUTATION', why: 'writes what it finds' }] },
      stash: {
        is: 'GIT_MUTATION',
        everywhere: true,
        effects: [
          { on: '--ext-diff --textconv --output', is: 'MUTATING', why: 'runs the configured helpers or writes a file' },
        ],
        bare: 'GIT_MUTATION',
        other: 'GIT_MUTATION',
        verbs: {
          READ_ONLY: 'list show',
          GIT_MUTATION: 'push pop apply drop clear branch create store save export import',
        },
        final: 'drop clear',
      },
      worktree: {
        is: 'GIT_MUTATION',
        other: 'GIT_MUTATION',
        verbs: { READ_ONLY: 'list', GIT_MUTATION: 'add prune lock unlock move repair' },
        forms: {
          remove: {
            is: 'GIT_MUTATION',
            effects: [
              { on: '-f --force', is: 'GIT_MUTATION', why: 'drops changes that are not committed', irreversible: true },
            ],
          },
        },
      },
      'fast-export': { is: 'READ_ONLY', effects: [{ on: '--export-marks', is: 'MUTATING', why: 'writes a file' }] },
      remote: {
        is: 'READ_ONLY',
        other: 'GIT_MUTATION',
        verbs: {
          READ_ONLY: 'get-url',
          GIT_MUTATION: 'remove rm rename set-branches set-url',
          NETWORK: 'update prune',
        },
        forms: {
          show: { is: 'READ_ONLY', judge: 'git-remote-show' },
          add: { is: 'GIT_MUTATION', valued: '-t -m', effects: [{ on: '-f --fetch', is: 'NETWORK', why: 'fetches' }] },
          'set-head': { is: 'GIT_MUTATION', effects: [{ on: '-a --auto', is: 'NETWORK', why: 'asks the remote' }] },
        },
      },
      submodule: {
        is: 'READ_ONLY',
        other: 'NETWORK',
        verbs: {
          READ_ONLY: 'status summary',
          NETWORK: 'update add',
          GIT_MUTATION: 'init deinit set-branch set-url sync absorbgitdirs',
        },
        forms: { foreach: { is: 'GIT_MUTATION', carries: { as: 'shell' } } },
      },
      bisect: {
        is: 'GIT_MUTATION',
        other: 'GIT_MUTATION',
        verbs: { READ_ONLY: 'log', GIT_MUTATION: 'start good bad new old skip reset replay terms visualize view' },
        forms: { run: { is: 'GIT_MUTATION', why: 'runs a script at every step', carries: { as: 'words' } } },
      },
      notes: { is: 'READ_ONLY', other: 'GIT_MUTATION', verbs: { READ_ONLY: 'list show get-ref' } },
      reflog: {
        is: 'READ_ONLY',
        everywhere: true,
        effects: [
          { on: '--ext-diff --textconv --output', is: 'MUTATING', why: 'runs the configured helpers or writes a file' },
        ],
        other: 'READ_ONLY',
        verbs: { READ_ONLY: 'show exists list', GIT_MUTATION: 'expire delete drop' },
        final: 'expire delete drop',
      },
      'sparse-checkout': { is: 'READ_ONLY', other: 'GIT_MUTATION', verbs: { READ_ONLY: 'list check-rules' } },
      bundle: {
        is: 'READ_ONLY',
        other: 'MUTATING',
        verbs: { READ_ONLY: 'verify list-heads', MUTATING: 'create', GIT_MUTATION: 'unbundle' },
      },
      lfs: {
        is: 'READ_ONLY',
        other: 'GIT_MUTATION',
        verbs: {
          READ_ONLY: 'ls-files status env version logs',
          NETWORK: 'fetch pull clone locks',
          REMOTE_MUTATION: 'push lock unlock',
        },
      },
      flow: { is: 'GIT_MUTATION', other: 'GIT_MUTATION' },
      credential: { is: 'MUTATING', why: 'shows or stores credentials' },
      'credential-store credential-cache': { is: 'MUTATING', why: 'shows or stores credentials' },
      apply: { is: 'READ_ONLY', judge: 'git-check' },
      'format-patch': { is: 'READ_ONLY', judge: 'git-check' },
      'hash-object': {
        is: 'READ_ONLY',
        reads: true,
        effects: [{ on: '-w', is: 'GIT_MUTATION', why: 'writes an object' }],
      },
      'symbolic-ref': {
        is: 'READ_ONLY',
        effects: [{ on: '-d --delete', is: 'GIT_MUTATION', why: 'deletes a reference', irreversible: true }],
        judge: 'git-two-operands',
      },
      'update-ref': {
        is: 'GIT_MUTATION',
        effects: [{ on: '-d --stdin', is: 'GIT_MUTATION', why: 'deletes references', irreversible: true }],
      },
      archive: {
        is: 'READ_ONLY',
        valued: '-o --output --remote --exec --format --prefix --add-file',
        effects: [
          { on: '-o --output', is: 'MUTATING', why: 'writes a file', value: 'file' },
          { on: '--remote', is: 'NETWORK', why: 'asks another host' },
          { on: '--exec', is: 'MUTATING', why: 'runs a program that is named', value: 'shell' },
        ],
      },
      prune: { is: 'GIT_MUTATION', why: 'removes objects that nothing names', irreversible: true },
      'filter-branch': {
        is: 'GIT_MUTATION',
        why: 'rewrites the history',
        irreversible: true,
        valued:
          '--setup --subdirectory-filter --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter --original -d',
        effects: [
          {
            on: '--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter',
            is: 'GIT_MUTATION',
            why: 'runs a command for every commit',
            value: 'shell',
          },
        ],
      },
      'filter-repo': { is: 'GIT_MUTATION', why: 'rewrites the history', irreversible: true },
      rebase: {
        is: 'GIT_MUTATION',
        valued: '-x --exec -s -X --onto --strategy',
        effects: [{ on: '-x --exec', is: 'GIT_MUTATION', why: 'runs a command after every commit', value: 'shell' }],
      },
      'for-each-repo': { is: 'GIT_MUTATION', valued: '--config', carries: { as: 'words' } },
      difftool: {
        is: 'MUTATING',
        why: 'runs a program that is configured',
        valued: '-x --extcmd -t --tool',
        effects: [{ on: '-x --extcmd', is: 'MUTATING', why: 'runs a program that is named', value: 'shell' }],
      },
    },
    examples: [
      ['git status', 'READ_ONLY'],
      ['git -C sub status', 'READ_ONLY'],
      ['git -C /tmp/evil status', 'MUTATING'],
      ['git log --grep=push -- shutdown.md', 'READ_ONLY'],
      ['git log --output=src/a.ts -1', 'MUTATING'],
      ['git -c core.fsmonitor=./x status', 'MUTATING'],
      ["git -c alias.x='!rm -rf /' x", 'DESTRUCTIVE!'],
      ['git -c color.ui=never diff', 'READ_ONLY'],
      ["git -c Core.Pager='sudo id' log", 'PRIVILEGED'],
      ['git commit -m "sudo rm -rf /"', 'GIT_MUTATION'],
      ['git branch --list', 'READ_ONLY'],
      ['git branch -D main', 'GIT_MUTATION!'],
      ['git branch topic', 'GIT_MUTATION'],
      ['git tag -l', 'READ_ONLY'],
      ['git tag -d v1', 'GIT_MUTATION!'],
      ['git config --get user.name', 'READ_ONLY'],
      ['git config --get-all credential.helper', 'MUTATING'],
      ["git config alias.st '!rm -rf ~'", 'DESTRUCTIVE!'],
      ['git reset --hard HEAD~1', 'GIT_MUTATION!'],
      ['git clean -fd', 'GIT_MUTATION!'],
      ['git clean -nfd', 'READ_ONLY'],
      ['git stash show --ext-diff', 'MUTATING'],
      ['git checkout -- .', 'GIT_MUTATION!'],
      ['git checkout -b x', 'GIT_MUTATION'],
      ['git stash drop', 'GIT_MUTATION!'],
      ['git stash list', 'READ_ONLY'],
      ['git push', 'REMOTE_MUTATION'],
      ['git push --force origin main', 'REMOTE_MUTATION!'],
      ['git push origin :main', 'REMOTE_MUTATION!'],
      ['git push origin +main', 'REMOTE_MUTATION!'],
      ['git fetch --upload-pack="rm -rf x" origin', 'DESTRUCTIVE!'],
      ['git remote -v', 'READ_ONLY'],
      ['git remote add -f x url', 'NETWORK'],
      ['git diff-tree --output=x HEAD', 'MUTATING'],
      ['git reflog --output=x', 'MUTATING'],
      ['git remote show origin', 'NETWORK'],
      ['git remote set-url origin https://x.test/r.git', 'GIT_MUTATION'],
      ["git submodule foreach 'rm -rf .'", 'DESTRUCTIVE!'],
      ["git bisect run sh -c 'rm -rf x'", 'DESTRUCTIVE!'],
      ["git rebase -x 'rm -rf x' main", 'DESTRUCTIVE!'],
      ['git apply --check a.patch', 'READ_ONLY'],
      ['git apply a.patch', 'GIT_MUTATION'],
      ['git symbolic-ref HEAD', 'READ_ONLY'],
      ['git symbolic-ref HEAD refs/heads/x', 'GIT_MUTATION'],
      ['git st', 'GIT_MUTATION'],
      ['git --version', 'READ_ONLY'],
      ['git filter-branch --index-filter "rm -rf x" HEAD', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'hg svn bzr fossil jj darcs p4 tig lazygit gitui gitk git-lfs bfg',
    is: 'GIT_MUTATION',
    other: 'GIT_MUTATION',
    verbs: {
      READ_ONLY: 'status st diff log show cat annotate blame info list ls help version root branches tags heads',
      NETWORK: 'clone pull update checkout co incoming outgoing fetch',
      REMOTE_MUTATION: 'push submit ci',
    },
    bare: 'GIT_MUTATION',
    examples: [
      ['hg status', 'READ_ONLY'],
      ['hg push', 'REMOTE_MUTATION'],
      ['jj new', 'GIT_MUTATION'],
    ],
  },
];
