import type { Rule } from '../rule.ts';

/** Programs that show things; their options and operands with effects are named one by one. */
export const readerRules: readonly Rule[] = [
  {
    names: 'ls dir vdir stat basename dirname realpath readlink pathchk du df exa eza lsd',
    is: 'READ_ONLY',
    examples: [
      ['ls -la /etc', 'READ_ONLY'],
      ['ls -C', 'READ_ONLY'],
      ['du -sh node_modules', 'READ_ONLY'],
    ],
  },
  {
    names: 'test [',
    is: 'READ_ONLY',
    judge: 'subscript',
    examples: [
      ['[ -f package.json ]', 'READ_ONLY'],
      ["test -v 'a[$(id)]'", 'MUTATING'],
    ],
  },
  {
    names: 'tree',
    is: 'READ_ONLY',
    valued: '-I -L -P -o -H -T --filelimit --charset --timefmt --output',
    effects: [
      { on: '-o --output', is: 'MUTATING', why: 'writes its listing to a file', value: 'file' },
      { on: '-R', is: 'MUTATING', why: 'writes its listing into each directory' },
    ],
    examples: [
      ['tree -L 2', 'READ_ONLY'],
      ['tree -o out.txt', 'MUTATING'],
    ],
  },
  {
    names: 'file',
    is: 'READ_ONLY',
    valued: '-m -F -f -P -e --magic-file --separator --files-from --parameter --exclude',
    effects: [{ on: '-C --compile', is: 'MUTATING', why: 'compiles a file of patterns' }],
    examples: [
      ['file dist/main.js', 'READ_ONLY'],
      ['file -C -m magic', 'MUTATING'],
    ],
  },
  {
    names:
      'cat tac head tail wc nl od hexdump strings cut paste fold fmt expand unexpand tr rev comm join cmp column colrm look ptx zcat bzcat xzcat zstdcat lz4cat bat batcat pr iconv more most',
    is: 'READ_ONLY',
    reads: true,
    valued: '-n -c --lines --bytes -d -f -t -f --delimiter --fields -w --width -s',
    effects: [
      { on: '--pager', is: 'MUTATING', why: 'runs a pager that is named', unless: /^(cat|less|never|)$/ },
      { on: '--output', is: 'MUTATING', why: 'writes to a file', value: 'file' },
    ],
    examples: [
      ['cat README.md', 'READ_ONLY'],
      ['tail -n 50 logs/app.log', 'READ_ONLY'],
      ['cat ~/.ssh/id_rsa', 'MUTATING'],
      ['cat .env', 'MUTATING'],
      ['cat .env.example', 'READ_ONLY'],
      ['head /proc/self/environ', 'MUTATING'],
      ['iconv -f latin1 -t utf8 --output=x y', 'MUTATING'],
    ],
  },
  {
    names: 'less zless',
    is: 'READ_ONLY',
    reads: true,
    effects: [
      { on: '-o -O --log-file --LOG-FILE', is: 'MUTATING', why: 'writes a log file' },
      { on: '-k --lesskey-file --lesskey-src', is: 'MUTATING', why: 'loads keys that may run commands' },
    ],
    judge: 'unary',
    examples: [
      ['less f', 'READ_ONLY'],
      ["less +'!id' f", 'MUTATING'],
      ['less +G f', 'READ_ONLY'],
    ],
  },
  {
    names: 'grep egrep fgrep zgrep bzgrep xzgrep',
    is: 'READ_ONLY',
    reads: true,
    pattern: true,
    valued: '-A -B -C -m -d -D -e -f --regexp --file --max-count --include --exclude --exclude-dir --label',
    examples: [
      ['grep -rn "rm -rf" docs', 'READ_ONLY'],
      ['grep sudo install.sh', 'READ_ONLY'],
      ['grep -n .env src/config.ts', 'READ_ONLY'],
      ['grep -r password ~/.config', 'MUTATING'],
      ['grep KEY .env', 'MUTATING'],
    ],
  },
  {
    names: 'rg ripgrep ag ack ugrep',
    is: 'READ_ONLY',
    reads: true,
    pattern: true,
    valued:
      '-A -B -C -m -e -f -g -t -T -M -j -r --regexp --file --glob --iglob --type --replace --max-count --max-depth --sort --pre-glob --color --colors --encoding',
    effects: [
      { on: '--pre', is: 'MUTATING', why: 'runs a program on every file', value: 'shell', unless: /^$/ },
      { on: '--hostname-bin', is: 'MUTATING', why: 'runs a program', value: 'shell' },
      { on: '--pager', is: 'MUTATING', why: 'runs a pager that is named', value: 'shell' },
      { on: '--view --save-config', is: 'MUTATING', why: 'runs or writes what is named' },
      { on: '--output', is: 'MUTATING', why: 'writes to a file', value: 'file', when: /[/.]/ },
    ],
    examples: [
      ['rg sudo', 'READ_ONLY'],
      ["rg 'docker run' .", 'READ_ONLY'],
      ['rg --pre ./x foo', 'MUTATING'],
      ['rg --pre=./x foo', 'MUTATING'],
      ["rg --pre-glob '*.pdf' foo", 'READ_ONLY'],
      ["ag --pager='sh -c id' foo", 'MUTATING'],
    ],
  },
  {
    names: 'sort',
    is: 'READ_ONLY',
    reads: true,
    valued:
      '-k -t -S -T -o --key --field-separator --buffer-size --temporary-directory --output --parallel --compress-program --batch-size --files0-from --random-source --sort',
    effects: [
      { on: '-o --output', is: 'MUTATING', why: 'writes its output to a file', value: 'file' },
      { on: '--compress-program', is: 'MUTATING', why: 'runs a program that is named', value: 'shell' },
    ],
    examples: [
      ['sort names.txt', 'READ_ONLY'],
      ['sort -t: -k2,2no f', 'READ_ONLY'],
      ['sort -uo out in', 'MUTATING'],
      ['sort --output=src/a.ts b', 'MUTATING'],
      ['sort --out x y', 'MUTATING'],
      ['sort -o/dev/null f', 'READ_ONLY'],
    ],
  },
  {
    names: 'uniq xxd',
    is: 'READ_ONLY',
    reads: true,
    valued: '-f -s -w -c -g -l -o --skip-fields --skip-chars --check-chars -cols -len -seek',
    judge: 'operand-writes',
    examples: [
      ['uniq -c names.txt', 'READ_ONLY'],
      ['uniq in.txt out.txt', 'MUTATING'],
      ['xxd -l 64 f', 'READ_ONLY'],
      ['xxd -r dump bin', 'MUTATING'],
    ],
  },
  {
    names: 'diff sdiff diff3 colordiff icdiff delta',
    is: 'READ_ONLY',
    reads: true,
    valued: '-U -C -W -I -x -X --unified --exclude --exclude-from --label -L --ignore-matching-lines --width',
    effects: [
      { on: '-o --output', is: 'MUTATING', why: 'writes its output to a file', value: 'file' },
      { on: '--diff-program --pager', is: 'MUTATING', why: 'runs a program that is named', value: 'shell' },
    ],
    examples: [
      ['diff -u a.txt b.txt', 'READ_ONLY'],
      ['sdiff -o out a b', 'MUTATING'],
    ],
  },
  {
    names:
      'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum b3sum cksum sum shasum md5 crc32 base32 base64 basenc',
    is: 'READ_ONLY',
    reads: true,
    effects: [{ on: '-o --output', is: 'MUTATING', why: 'writes its output to a file', value: 'file' }],
    valued: '-w -o --output --wrap',
    examples: [
      ['sha256sum dist/main.js', 'READ_ONLY'],
      ['base64 -w0 logo.png', 'READ_ONLY'],
      ['base64 .env', 'MUTATING'],
    ],
  },
  {
    names: 'jq jaq gojq xmllint xq htmlq',
    is: 'READ_ONLY',
    reads: true,
    pattern: true,
    valued: '-f -L --arg --argjson --slurpfile --rawfile --indent --from-file --xpath --schema --output',
    effects: [{ on: '--output -o --shell', is: 'MUTATING', why: 'writes a file', value: 'file' }],
    examples: [
      ['jq .scripts package.json', 'READ_ONLY'],
      ["jq '.[] | select(.env)' a.json", 'READ_ONLY'],
      ['jq . .env', 'MUTATING'],
    ],
  },
  {
    names: 'yq',
    is: 'READ_ONLY',
    reads: true,
    pattern: true,
    valued: '-p -o -I --input-format --output-format --indent --arg',
    effects: [
      { on: '-i --inplace --in-place', is: 'MUTATING', why: 'changes files in place' },
      { on: '-s --split-exp', is: 'MUTATING', why: 'writes files' },
    ],
    examples: [
      ['yq .services compose.yaml', 'READ_ONLY'],
      ["yq -i '.a=1' f.yaml", 'MUTATING'],
    ],
  },
  {
    names:
      'which whereis type pwd whoami id groups uname arch nproc tty users uptime free lscpu lsblk lsusb lspci lsmod getconf locale cal ncal who w last tput getent seq yes factor expr numfmt sleep true false : dircolors logname hostid locate plocate apropos whatis tldr info vmstat iostat mpstat ps pgrep pidof pstree lsof top htop netstat sw_vers',
    is: 'READ_ONLY',
    examples: [
      ['which node', 'READ_ONLY'],
      ['type rm', 'READ_ONLY'],
      ['ps aux', 'READ_ONLY'],
      ['pgrep -f sudo', 'READ_ONLY'],
      ['uname -a', 'READ_ONLY'],
    ],
  },
  {
    names: 'fuser ss',
    is: 'READ_ONLY',
    valued: '-n --namespace -f --filter',
    effects: [{ on: '-k -K --kill', is: 'DESTRUCTIVE', why: 'ends processes or connections' }],
    examples: [
      ['ss -tlnp', 'READ_ONLY'],
      ['fuser -k 8080/tcp', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'date',
    is: 'READ_ONLY',
    valued: '-d -f -r --date --file --reference',
    judge: 'date',
    examples: [
      ['date +%s', 'READ_ONLY'],
      ["date -d '2 days ago'", 'READ_ONLY'],
      ['date -s 2020-01-01', 'PRIVILEGED'],
      ['date --set=2020-01-01', 'PRIVILEGED'],
    ],
  },
  {
    names: 'hostname domainname',
    is: 'READ_ONLY',
    valued: '-F --file',
    effects: [{ on: '-F --file -b', is: 'PRIVILEGED', why: 'sets the name of the machine' }],
    judge: 'unary',
    examples: [
      ['hostname', 'READ_ONLY'],
      ['hostname -f', 'READ_ONLY'],
      ['hostname evil', 'PRIVILEGED'],
    ],
  },
  {
    names: 'man',
    is: 'READ_ONLY',
    valued: '-P -M -S -s -L -m -p -C -e --pager --manpath --sections --html',
    effects: [
      { on: '-P --pager', is: 'MUTATING', why: 'runs a pager that is named', value: 'shell', unless: /^(cat|less)$/ },
      { on: '-H --html -C --config-file -p --preprocessor', is: 'MUTATING', why: 'runs a program that is named' },
    ],
    examples: [
      ['man sudo', 'READ_ONLY'],
      ["man -P 'sh -c id' ls", 'MUTATING'],
      ['man -P cat ls', 'READ_ONLY'],
    ],
  },
  {
    names: 'printenv',
    is: 'READ_ONLY',
    judge: 'unary',
    examples: [
      ['printenv', 'MUTATING'],
      ['printenv HOME', 'READ_ONLY'],
      ['printenv GITHUB_TOKEN', 'MUTATING'],
    ],
  },
  {
    names: 'dmesg',
    is: 'READ_ONLY',
    judge: 'unary',
    examples: [
      ['dmesg', 'READ_ONLY'],
      ['dmesg --clear', 'PRIVILEGED'],
    ],
  },
  {
    names: 'find gfind',
    is: 'READ_ONLY',
    reads: true,
    style: 'single',
    judge: 'find',
    examples: [
      ["find . -name '*.ts'", 'READ_ONLY'],
      ["find . -name 'rm*' -print", 'READ_ONLY'],
      ['find . -delete', 'DESTRUCTIVE!'],
      ["find . -name '*.log' -exec rm -rf {} +", 'DESTRUCTIVE!'],
      ["find . -type f -exec grep -l foo {} ';'", 'READ_ONLY'],
      ["find . -ok sudo id {} ';'", 'PRIVILEGED'],
      ['find . -fprintf out %p', 'MUTATING'],
      ['find . -name -delete', 'READ_ONLY'],
    ],
  },
  {
    names: 'fd fdfind',
    is: 'READ_ONLY',
    valued:
      '-e -t -E -d -j -S -c -g --extension --type --exclude --max-depth --size --changed-within --base-directory --search-path',
    effects: [
      { on: '-x -X --exec --exec-batch', is: 'READ_ONLY', why: 'runs a command for what it finds', value: 'program' },
    ],
    examples: [
      ['fd -e ts', 'READ_ONLY'],
      ['fd -x rm -rf {}', 'DESTRUCTIVE!'],
      ['fd -e ts -X wc -l', 'READ_ONLY'],
    ],
  },
  {
    names: 'sed gsed',
    is: 'READ_ONLY',
    reads: true,
    valued: '-e -f -l --expression --file --line-length',
    effects: [{ on: '-i -I --in-place', is: 'MUTATING', why: 'changes files in place' }],
    judge: 'sed',
    examples: [
      ["sed -n '1,20p' f", 'READ_ONLY'],
      ["sed 's/write/erase/g' f", 'READ_ONLY'],
      ["sed -i 's/a/b/' f.py", 'MUTATING'],
      ["sed --in-pl 's/a/b/' f", 'MUTATING'],
      ["sed -ni.bak '/x/p' f", 'MUTATING'],
      ["sed -n 'w out.txt' f", 'MUTATING'],
      ["sed '1e id' f", 'MUTATING'],
      ["sed 's/.*/id/e' f", 'MUTATING'],
      ["sed '1e rm -rf x' f", 'DESTRUCTIVE!'],
      ["sed -n '/start/,/end/p' f", 'READ_ONLY'],
      ["sed -n 's/a/b/w /dev/stdout' f", 'READ_ONLY'],
    ],
  },
  {
    names: 'awk gawk mawk nawk original-awk',
    is: 'READ_ONLY',
    reads: true,
    pattern: true,
    judge: 'awk',
    examples: [
      ["awk '{print $1}' f", 'READ_ONLY'],
      ["awk '$3 > 100 {print $1}' f.csv", 'READ_ONLY'],
      ["awk -F: '{print $1}' /etc/passwd", 'READ_ONLY'],
      ['awk \'BEGIN{system("rm -rf x")}\'', 'DESTRUCTIVE!'],
      ['awk \'{print > "out"}\' f', 'MUTATING'],
      ['awk \'{print | "sh"}\' f', 'MUTATING'],
      ["awk '/a|b/ {print}' f", 'READ_ONLY'],
      ["awk 'a || b' f", 'READ_ONLY'],
      ['awk -f prog.awk f', 'MUTATING'],
    ],
  },
];
