import type { Rule } from '../rule.ts';

/** Builtins of the shell, and shells themselves. */
export const shellRules: readonly Rule[] = [
  {
    names: 'echo',
    is: 'READ_ONLY',
    examples: [
      ['echo "rm -rf /"', 'READ_ONLY'],
      ['echo "$GITHUB_TOKEN"', 'MUTATING'],
    ],
  },
  {
    names: 'printf',
    is: 'READ_ONLY',
    judge: 'unary',
    examples: [
      ["printf '%s' 'docker run'", 'READ_ONLY'],
      ['printf -v PATH %s /tmp/x', 'MUTATING'],
      ["printf -v 'a[$(rm -rf x)]' y", 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'cd pushd popd dirs chdir',
    is: 'READ_ONLY',
    judge: 'unary',
    examples: [
      ['cd src && ls', 'READ_ONLY'],
      ['cd ~/.aws && cat credentials', 'MUTATING'],
    ],
  },
  {
    names:
      'shift return exit break continue wait jobs bg fg ulimit umask times getopts caller logout suspend disown help unalias shopt',
    is: 'READ_ONLY',
    judge: 'subscript',
    examples: [['exit 1', 'READ_ONLY']],
  },
  {
    names: 'compgen',
    is: 'READ_ONLY',
    valued: '-A -C -F -G -P -S -W -X -o',
    effects: [
      { on: '-C', is: 'MUTATING', why: 'runs a command for its words', value: 'shell' },
      { on: '-F', is: 'MUTATING', why: 'calls a function for its words' },
    ],
    judge: 'unary',
    examples: [
      ['compgen -c', 'READ_ONLY'],
      ["compgen -C 'touch x' a", 'MUTATING'],
      ["compgen -W '$(rm -rf x)' a", 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'unset',
    is: 'READ_ONLY',
    judge: 'unary',
    examples: [
      ["unset 'a[$(id)]'", 'MUTATING'],
      ['rm() { :; }; unset -f rm; rm -rf x', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'read',
    is: 'READ_ONLY',
    valued: '-a -d -i -n -N -p -t -u',
    judge: 'unary',
    examples: [['while read -r l; do echo "$l"; done < f.txt', 'READ_ONLY']],
  },
  {
    names: 'set',
    is: 'READ_ONLY',
    judge: 'unary',
    examples: [
      ['set -euo pipefail', 'READ_ONLY'],
      ['set', 'MUTATING'],
      ['set -- rm -rf x; "$@"', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'export declare typeset local readonly',
    is: 'READ_ONLY',
    judge: 'variables',
    examples: [
      ['export A=1', 'READ_ONLY'],
      ['export PATH=/tmp/x:$PATH', 'MUTATING'],
      ['export -p', 'MUTATING'],
      ['export GIT_PAGER=\'sh -c "rm -rf src"\'', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'let',
    is: 'READ_ONLY',
    judge: 'subscript',
    examples: [
      ['let i+=1', 'READ_ONLY'],
      ["let 'a[$(rm -rf x)]=1'", 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'trap',
    is: 'READ_ONLY',
    judge: 'unary',
    examples: [
      ["trap 'rm -rf x' EXIT", 'DESTRUCTIVE!'],
      ['trap - INT', 'READ_ONLY'],
      ["trap 'echo done' EXIT", 'READ_ONLY'],
    ],
  },
  {
    names: 'history fc',
    is: 'READ_ONLY',
    effects: [{ on: '-w -a -c -d -r -n -s -e', is: 'MUTATING', why: 'changes the history, or runs from it' }],
    examples: [
      ['history', 'READ_ONLY'],
      ['history -w /etc/x', 'MUTATING'],
    ],
  },
  {
    names: 'hash',
    is: 'READ_ONLY',
    effects: [{ on: '-p', is: 'MUTATING', why: 'binds a name to another program' }],
    examples: [
      ['hash -r', 'READ_ONLY'],
      ['hash -p /tmp/evil ls', 'MUTATING'],
    ],
  },
  {
    names: 'alias',
    is: 'MUTATING',
    why: 'gives a command another name',
    judge: 'unary',
    examples: [
      ["alias ls='rm -rf x'", 'DESTRUCTIVE!'],
      ["alias ll='ls -l'", 'MUTATING'],
    ],
  },
  {
    names: 'source .',
    is: 'READ_ONLY',
    judge: 'unary',
    examples: [
      ['. ./env', 'MUTATING'],
      ["source /dev/stdin <<< 'rm -rf x'", 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'eval',
    is: 'READ_ONLY',
    judge: 'unary',
    examples: [
      ['eval "rm -rf x"', 'DESTRUCTIVE!'],
      ['eval sudo id', 'PRIVILEGED'],
      ['eval "ls -la"', 'READ_ONLY'],
      ['eval "$X"', 'MUTATING'],
    ],
  },
  {
    names: 'command',
    is: 'READ_ONLY',
    stops: true,
    judge: 'unary',
    examples: [
      ['command -v rm', 'READ_ONLY'],
      ['command ls', 'READ_ONLY'],
      ['command -p rm -rf x', 'DESTRUCTIVE!'],
      ['command docker compose down -v', 'PRIVILEGED!'],
    ],
  },
  {
    names: 'exec',
    is: 'READ_ONLY',
    valued: '-a',
    carries: { as: 'words' },
    examples: [
      ['exec rm -rf x', 'DESTRUCTIVE!'],
      ['exec -a ls rm -rf x', 'DESTRUCTIVE!'],
      ['exec 3< f', 'READ_ONLY'],
    ],
  },
  {
    names: 'enable bind complete compopt mapfile readarray autoload zmodload',
    is: 'MUTATING',
    why: 'loads code into the shell, or calls it back',
    effects: [{ on: '-C', is: 'MUTATING', why: 'calls a command back', value: 'shell' }],
    valued: '-C -c -d -n -O -s -u -F -W -f',
    examples: [["mapfile -C 'rm -rf x' -c 1 a", 'DESTRUCTIVE!']],
  },
  {
    names: 'sh bash dash zsh ksh mksh ash rbash fish csh tcsh pwsh powershell nu elvish xonsh',
    is: 'READ_ONLY',
    judge: 'shell',
    examples: [
      ["bash -c 'ls -la'", 'READ_ONLY'],
      ["bash --norc -c 'ls; rm -rf x'", 'DESTRUCTIVE!'],
      ['sh -c "sudo id"', 'PRIVILEGED'],
      ["sh -ec 'git push'", 'REMOTE_MUTATION'],
      ['sh -c \'"$@"\' _ rm -rf x', 'DESTRUCTIVE!'],
      ["sh -c '$0 -rf x' rm", 'DESTRUCTIVE!'],
      ['bash script.sh', 'MUTATING'],
      ['bash -c "$SCRIPT"', 'MUTATING'],
      ["sh <<< 'rm -rf x'", 'DESTRUCTIVE!'],
      ["echo 'sudo id' | sh", 'PRIVILEGED'],
      ['bash --version', 'READ_ONLY'],
    ],
  },
];
