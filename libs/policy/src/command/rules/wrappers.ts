import type { Rule } from '../rule.ts';

/** Programs that run another program: the inner one decides, with what the wrapper adds. */
export const wrapperRules: readonly Rule[] = [
  {
    names:
      'sudo doas pkexec runas sudoedit run0 please gosu su-exec runuser setpriv capsh chroot nsenter unshare pivot_root machinectl systemd-run start-stop-daemon firejail bwrap bubblewrap proot sg newgrp dzdo pfexec',
    is: 'PRIVILEGED',
    why: 'runs something with other rights',
    always: true,
    valued:
      '-u -g -h -p -C -r -t -U -D -R -T -m --user --group --host --prompt --chdir --chroot --target --root --reuid --regid',
    carries: { as: 'words', assignments: true },
    examples: [
      ['sudo -n true', 'PRIVILEGED'],
      ['sudo --version', 'PRIVILEGED'],
      ['sudo rm -rf /tmp/x', 'PRIVILEGED!'],
      ['nsenter -t 1 -m sh', 'PRIVILEGED'],
    ],
  },
  {
    names: 'su',
    is: 'PRIVILEGED',
    why: 'becomes another user',
    always: true,
    valued: '-c -s -g -G --command --shell --group',
    effects: [{ on: '-c --command', is: 'PRIVILEGED', why: 'runs a command as another user', value: 'shell' }],
    examples: [
      ['su', 'PRIVILEGED'],
      ["su -c 'rm -rf /'", 'PRIVILEGED!'],
    ],
  },
  {
    names: 'env',
    is: 'READ_ONLY',
    judge: 'env',
    examples: [
      ['env ls', 'READ_ONLY'],
      ['env', 'MUTATING'],
      ['env -u HOME FOO=1 rm -rf x', 'DESTRUCTIVE!'],
      ["env --split-string='rm -rf x'", 'DESTRUCTIVE!'],
      ["env -S'sudo id'", 'PRIVILEGED'],
      ['env NODE_ENV=production npm run build', 'BUILD'],
      ['env LD_PRELOAD=./x.so ls', 'MUTATING'],
    ],
  },
  {
    names:
      'nohup setsid builtin noglob nocorrect unbuffer catchsegv eatmydata linux32 linux64 dumb-init dbus-run-session torsocks systemd-inhibit',
    is: 'READ_ONLY',
    carries: { as: 'words' },
    examples: [
      ['nohup sudo id', 'PRIVILEGED'],
      ['setsid -w rm -rf x', 'DESTRUCTIVE!'],
      ['nohup ls', 'READ_ONLY'],
    ],
  },
  {
    names: 'nice gnice',
    is: 'READ_ONLY',
    valued: '-n --adjustment',
    carries: { as: 'words' },
    examples: [
      ['nice -n 19 rm -rf x', 'DESTRUCTIVE!'],
      ['nice -5 rm -rf x', 'DESTRUCTIVE!'],
      ['nice ls', 'READ_ONLY'],
      ['nice -n 10 cargo build', 'BUILD'],
    ],
  },
  {
    names: 'ionice',
    is: 'READ_ONLY',
    valued: '-c -n -p -P -u --class --classdata --pid',
    carries: { as: 'words' },
    examples: [['ionice -c 3 rm -rf x', 'DESTRUCTIVE!']],
  },
  {
    names: 'stdbuf gstdbuf',
    is: 'READ_ONLY',
    valued: '-i -o -e --input --output --error',
    carries: { as: 'words' },
    examples: [
      ['stdbuf -oL rm -rf x', 'DESTRUCTIVE!'],
      ['stdbuf -o L ls', 'READ_ONLY'],
    ],
  },
  {
    names: 'xvfb-run',
    is: 'READ_ONLY',
    valued: '-e -f -n -p -s -w --error-file --auth-file --server-num --xauth-protocol --server-args --wait',
    carries: { as: 'words' },
    examples: [
      ['xvfb-run -a rm -rf x', 'DESTRUCTIVE!'],
      ['xvfb-run -a npm test', 'TEST'],
    ],
  },
  {
    names: 'caffeinate',
    is: 'READ_ONLY',
    valued: '-t -w',
    carries: { as: 'words' },
    examples: [['caffeinate -i rm -rf x', 'DESTRUCTIVE!']],
  },
  {
    names: 'tini cpulimit numactl prlimit proxychains proxychains4 fakeroot',
    is: 'READ_ONLY',
    valued: '-l -p -e -N -m -C -f -b --membind --cpunodebind --physcpubind --lib --faked',
    carries: { as: 'words' },
    examples: [
      ['tini -- rm -rf x', 'DESTRUCTIVE!'],
      ['fakeroot rm -rf x', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'chrt taskset setarch faketime envdir cgexec',
    is: 'READ_ONLY',
    valued: '-T -P -D -g',
    carries: { as: 'words', skip: 1 },
    examples: [
      ['taskset -c 0 rm -rf x', 'DESTRUCTIVE!'],
      ['chrt -b 0 ls', 'READ_ONLY'],
    ],
  },
  {
    names: 'time gtime',
    is: 'READ_ONLY',
    valued: '-o -f --output --format',
    effects: [{ on: '-o --output', is: 'MUTATING', why: 'writes a file', value: 'file' }],
    carries: { as: 'words' },
    examples: [
      ['/usr/bin/time -v rm -rf x', 'DESTRUCTIVE!'],
      ['/usr/bin/time -o out ls', 'MUTATING'],
      ['time ls', 'READ_ONLY'],
    ],
  },
  {
    names: 'timeout gtimeout',
    is: 'READ_ONLY',
    valued: '-k -s --kill-after --signal',
    carries: { as: 'words', skip: 1 },
    examples: [
      ['timeout -k 2 5s rm -rf x', 'DESTRUCTIVE!'],
      ['timeout 60 npm test', 'TEST'],
    ],
  },
  {
    names: 'xargs gxargs',
    is: 'READ_ONLY',
    valued: '-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-lines --replace --max-chars',
    carries: { as: 'words' },
    examples: [
      ['git ls-files | xargs grep -n foo', 'READ_ONLY'],
      ['xargs -0 -n1 rm -r --force', 'DESTRUCTIVE!'],
      ['xargs -n1 sudo cat', 'PRIVILEGED'],
      ["xargs -I{} sh -c 'rm -rf {}'", 'DESTRUCTIVE!'],
      ['xargs', 'READ_ONLY'],
    ],
  },
  {
    names: 'parallel',
    is: 'READ_ONLY',
    valued: '-j -a -I -n -N -L -S --jobs --arg-file --colsep --sshlogin --joblog --results --tmpdir --workdir',
    effects: [
      { on: '-S --sshlogin --sshloginfile', is: 'NETWORK', why: 'runs on other hosts' },
      { on: '--joblog --results --tmpdir', is: 'MUTATING', why: 'writes files' },
    ],
    carries: { as: 'shell', none: 'MUTATING' },
    examples: [
      ['parallel rm -rf ::: a b', 'DESTRUCTIVE!'],
      ["parallel 'rm -rf {}' ::: a", 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'watch viddy hwatch',
    is: 'READ_ONLY',
    valued: '-n --interval',
    carries: { as: 'shell' },
    examples: [
      ["watch -n1 'rm -rf build'", 'DESTRUCTIVE!'],
      ['watch sudo id', 'PRIVILEGED'],
      ['watch -n5 curl -s https://x.test', 'NETWORK'],
    ],
  },
  {
    names: 'script',
    is: 'MUTATING',
    why: 'writes what happens to a file',
    valued: '-c -O -I -B -T -E -m -o --command --log-out --log-in --log-io --log-timing',
    effects: [{ on: '-c --command', is: 'MUTATING', why: 'runs a command', value: 'shell' }],
    examples: [["script -qc 'rm -rf x' /dev/null", 'DESTRUCTIVE!']],
  },
  {
    names: 'flock lockf',
    is: 'READ_ONLY',
    valued: '-w -E -c --timeout --conflict-exit-code --command',
    judge: 'unary',
    examples: [
      ["flock /tmp/l -c 'rm -rf x'", 'DESTRUCTIVE!'],
      ['flock /tmp/l rm -rf x', 'DESTRUCTIVE!'],
      ['flock /tmp/l ls', 'READ_ONLY'],
    ],
  },
  {
    names: 'strace ltrace valgrind perf gdb lldb rr heaptrack uftrace bpftrace dtrace dtruss',
    is: 'MUTATING',
    why: 'runs or watches a program from the inside',
    valued: '-o -e -p -s -E -u -a -O -S -ex -x --tool --log-file',
    carries: { as: 'words', none: 'MUTATING' },
    examples: [
      ['strace -f rm -rf x', 'DESTRUCTIVE!'],
      ["gdb -batch -ex 'shell rm -rf x'", 'MUTATING'],
    ],
  },
  {
    names: 'busybox toybox',
    is: 'READ_ONLY',
    carries: { as: 'words' },
    examples: [
      ['busybox rm -rf src', 'DESTRUCTIVE!'],
      ["busybox sh -c 'touch x'", 'MUTATING'],
      ['busybox ls', 'READ_ONLY'],
    ],
  },
  {
    names: 'ld.so',
    is: 'MUTATING',
    why: 'loads a program past its name',
    valued: '--library-path --preload --audit --argv0',
    carries: { as: 'words' },
    examples: [['/lib64/ld-linux-x86-64.so.2 /bin/rm -rf x', 'DESTRUCTIVE!']],
  },
  {
    names: 'hyperfine concurrently npm-run-all run-p run-s run-pty',
    is: 'READ_ONLY',
    valued:
      '-w -r -m -M -n -p -s -c -L -P -N --warmup --runs --min-runs --prepare --setup --cleanup --names --prefix --export-json --export-markdown --export-csv --shell',
    effects: [
      {
        on: '-p --prepare -s --setup -c --cleanup --conclude',
        is: 'READ_ONLY',
        why: 'runs a command',
        value: 'shell',
        unless: /^(red|green|blue|cyan|magenta|yellow|name|auto)/,
      },
      {
        on: '--export-json --export-markdown --export-csv --export-asciidoc --output',
        is: 'MUTATING',
        why: 'writes a file',
        value: 'file',
      },
    ],
    carries: { as: 'each', none: 'MUTATING' },
    examples: [
      ["hyperfine 'rm -rf x'", 'DESTRUCTIVE!'],
      ["concurrently 'npm test' 'sudo id'", 'PRIVILEGED'],
    ],
  },
  {
    names: 'watchexec nodemon reflex modd chokidar',
    is: 'MUTATING',
    why: 'runs a command again and again',
    valued: '-e -w -i -c -x --exec --exts --watch --ignore',
    effects: [{ on: '-x --exec -c', is: 'MUTATING', why: 'runs a command', value: 'shell' }],
    carries: { as: 'words', none: 'MUTATING' },
    examples: [["nodemon --exec 'rm -rf x'", 'DESTRUCTIVE!']],
  },
  {
    names: 'cross-env env-cmd dotenv dotenvx with-env cross-env-shell',
    is: 'READ_ONLY',
    tool: true,
    valued: '-f -e -p --file',
    carries: { as: 'words', assignments: true, none: 'MUTATING' },
    examples: [
      ['cross-env NODE_ENV=test jest', 'TEST'],
      ['cross-env A=1 rm -rf x', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'tmux screen byobu zellij dtach abduco expect run-parts anacron entr',
    is: 'MUTATING',
    why: 'runs programs that nobody watches',
    carries: { as: 'shell', none: 'MUTATING' },
    examples: [['screen -dm rm -rf x', 'DESTRUCTIVE!']],
  },
  {
    names: 'at batch',
    is: 'MUTATING',
    why: 'runs its input later',
    judge: 'ssh',
    examples: [["at now + 1 minute <<< 'rm -rf x'", 'DESTRUCTIVE!']],
  },
];
