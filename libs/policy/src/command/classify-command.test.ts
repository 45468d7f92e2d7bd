import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { classifyCommand } from './classify-command.ts';
import { commandClasses, decideByClasses, severityOf, type CommandClass } from './command-class.ts';
import { namesOf, ruleFamilies } from './rule-table.ts';

interface CommandCase {
  readonly command: string;
  readonly expected: CommandClass;
  /** A stricter class is as good. */
  readonly atLeast?: boolean;
}

const casesIn = (name: string): readonly CommandCase[] =>
  readFileSync(new URL(`../../../../test/cases/${name}`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const cases = [...casesIn('commands.jsonl'), ...casesIn('more-commands.jsonl')];

const severity = (command: string): number => severityOf(classifyCommand(command).class);

test.each(cases)('$command is $expected', ({ command, expected, atLeast }) => {
  const found = classifyCommand(command);
  if (atLeast) expect(severityOf(found.class), found.reasons.join('\n')).toBeGreaterThanOrEqual(severityOf(expected));
  else expect(found.class, found.reasons.join('\n')).toBe(expected);
});

test('the verdict comes from the set of classes: without a network one part refuses the whole', () => {
  const command = 'curl https://x.test && git push';
  expect(classifyCommand(command)).toMatchObject({
    class: 'REMOTE_MUTATION',
    classes: ['NETWORK', 'REMOTE_MUTATION'],
    verdict: 'ask',
  });
  expect(classifyCommand(command, { network: false }).verdict).toBe('refuse');
});

test.each([
  ['READ_ONLY', 'allow'],
  ['TEST', 'allow'],
  ['BUILD', 'allow'],
  ['MUTATING', 'ask'],
  ['GIT_MUTATION', 'ask'],
  ['NETWORK', 'ask'],
  ['REMOTE_MUTATION', 'ask'],
  ['DESTRUCTIVE', 'refuse'],
  ['PRIVILEGED', 'refuse'],
] as const)('%s is %s', (commandClass, verdict) => {
  expect(decideByClasses([commandClass], true)).toBe(verdict);
});

test('every class that is more than reading comes with a reason, the worst first', () => {
  const { reasons } = classifyCommand('npm test && touch x && sudo id');
  expect(reasons.map((reason) => reason.split(':')[0])).toEqual(['PRIVILEGED', 'MUTATING', 'TEST']);
  expect(classifyCommand('ls').reasons).toEqual([]);
});

test('reasons show no character that a terminal obeys', () => {
  const { reasons } = classifyCommand('rm -rf /\b\b\u202e\u001b[2K');
  expect(reasons.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test.each([
  ['git push --force', true],
  ['git push', false],
  ['git reset --hard', true],
  ['git branch -D x', true],
  ['git branch -d x', false],
  ['git commit -m --force', false],
  ['npm publish', true],
  ['terraform apply', true],
  ['gh repo delete o/r', true],
  ['rm -rf x', true],
  ['rm x', false],
  ['bash -c "git push -f"', true],
  ['git clean -n', false],
  ['git stash drop', true],
])('whether anyone can take back %j: %s means nobody can', (command, irreversible) => {
  expect(classifyCommand(command).irreversible).toBe(irreversible);
});

test.each([
  ['longer than is read', `ls ${'a'.repeat(20_000)}`],
  ['more parts than are judged', 'a;'.repeat(5000)],
  ['more substitutions than are followed', `echo ${'$('.repeat(200)}id${')'.repeat(200)}`],
  ['more expansions than are followed', `echo ${'${a['.repeat(3000)}`],
  ['more programs than are followed', `${'env '.repeat(200)}ls`],
  ['deeper lists than are followed', '( '.repeat(3000)],
  ['functions of functions', 'f()'.repeat(4000)],
])('a command with %s asks and is covered by no mode', (_, command) => {
  const found = classifyCommand(command);
  expect(found.verdict).not.toBe('allow');
  expect(found.irreversible).toBe(true);
});

test('what stands before the limit of length still counts', () => {
  expect(classifyCommand(`sudo id # ${'a'.repeat(20_000)}`).verdict).toBe('refuse');
});

const harmless = ['ls', 'git status', 'cat README.md', 'echo hi', 'grep -n sudo f', 'wc -l f', 'true'];
const worse = ['rm -rf x', 'sudo id', 'mkfs /dev/sda', 'shutdown now', 'docker run x'];
const anyCommand = fc.oneof(
  fc.constantFrom(...cases.map(({ command }) => command).filter((command) => command.length < 200)),
  fc.constantFrom(...harmless, ...worse),
);
/** Commands that leave nothing open, so that something may stand after or around them. */
const anyWhole = fc.constantFrom(
  ...cases
    .map(({ command }) => command)
    .filter(
      (command) =>
        command.trim() !== '' &&
        command.length < 200 &&
        !/<<|#|['"`\\]|\n/.test(command) &&
        classifyCommand(command).class !== 'MUTATING',
    ),
);
const pieces = fc.constantFrom(
  ..."rm|-rf|sudo|ls|git|-c|$(|`|)|(|{|}|\"|'|\\|;|&&|||||&|<|>|<<EOF|EOF|$x|${|$((|))|[[|]]|if|then|fi|for|do|done|case|esac|in|x=|\n|\t| |eval|sh|-c|xargs|find|-exec|#|*|?|[|]|!|~|/|=|,|..|:|@|$'|env|\u0000|\u200b|é|\ud800".split(
    '|',
  ),
);
const noise = fc.array(fc.oneof(pieces, fc.string({ maxLength: 5 })), { maxLength: 30 }).map((words) => words.join(''));
const spaced = fc.array(pieces, { maxLength: 25 }).map((words) => words.join(' '));

test('no text makes it throw, and each answer is whole', () => {
  fc.assert(
    fc.property(fc.oneof(noise, spaced, anyCommand, fc.string({ unit: 'binary', maxLength: 60 })), (text) => {
      const found = classifyCommand(text);
      expect(commandClasses).toContain(found.class);
      expect(found.classes).toContain(found.class);
      expect(found.verdict).toBe(decideByClasses(found.classes, true));
      if (severityOf(found.class) > 0) expect(found.reasons.length).toBeGreaterThan(0);
    }),
    { numRuns: 5000 },
  );
});

test('a part that is refused is refused wherever it stands', () => {
  const around = fc.constantFrom<(part: string, other: string) => string>(
    (part, other) => `${other}; ${part}`,
    (part, other) => `${part}; ${other}`,
    (part, other) => `${other} && ${part}`,
    (part, other) => `${other} | ${part}`,
    (part, other) => `${other} & ${part}`,
    (part, other) => `${other}\n${part}`,
    (part, other) => `if ${other}; then ${part}; fi`,
    (part, other) => `for f in a; do ${other}; ${part}; done`,
    (part, other) => `{ ${other}; ${part}; }`,
    (part, other) => `(${other}; ${part})`,
    (part, other) => `f() { ${part}; }; ${other}`,
    (part, other) => `${other} $(${part})`,
    (part, other) => `case x in x) ${part};; esac; ${other}`,
  );
  // A `cd` or a function before changes what a command is, and so does a pipe around it; one that begins with `;` is none.
  const stateless = anyWhole.filter((command) => !/\b(cd|set|unset|export)\b|=|\(\)|^;/.test(command));
  fc.assert(
    fc.property(around, stateless, stateless, (join, part, other) => {
      const text = join(part, other);
      expect(severity(text), text).toBeGreaterThanOrEqual(Math.max(severity(part), severity(other)));
    }),
    { numRuns: 3000 },
  );
});

test('wrapping a command never lowers its class', () => {
  const wrap = fc.constantFrom<(command: string) => string>(
    (command) => `env ${command}`,
    (command) => `nice -n 5 ${command}`,
    (command) => `timeout 5 ${command}`,
    (command) => `nohup ${command}`,
    (command) => `A=1 ${command}`,
    (command) => `command ${command}`,
    (command) => `time ${command}`,
    (command) => `! ${command}`,
    (command) => `bash -c '${command}'`,
    (command) => `sh -ec "${command}"`,
    (command) => `eval '${command}'`,
    (command) => `setsid -w ${command}`,
    (command) => `stdbuf -oL ${command}`,
    (command) => `watch -n 2 '${command}'`,
    (command) => `ssh host '${command}'`,
    (command) => `trap '${command}' EXIT`,
    (command) => `sudo ${command}`,
    (command) => `flock /tmp/l -c '${command}'`,
  );
  const simple = anyWhole.filter(
    (command) =>
      /^[a-z][\w ./-]*$/.test(command) &&
      !/^(cd|export|set|time|trap|alias|source|eval|exec|read|local\w*|declare|unset|shift|pushd|hash|history|let|umask|if|for|while|case|until|coproc|select|function)\b/.test(
        command,
      ),
  );
  fc.assert(
    fc.property(fc.array(wrap, { minLength: 1, maxLength: 1 }), simple, (wraps, command) => {
      const text = wraps.reduce((inner, each) => each(inner), command);
      expect(severity(text), text).toBeGreaterThanOrEqual(severity(command));
    }),
    { numRuns: 3000 },
  );
});

test('a command that is only quoted, searched for or commented on raises nothing', () => {
  const quote = fc.constantFrom<(words: string) => string>(
    (words) => `echo '${words}'`,
    (words) => `grep -rn '${words}' src`,
    (words) => `rg -F '${words}'`,
    (words) => `git log --grep='${words}'`,
    (words) => `git grep -n '${words}'`,
    (words) => `ls # ${words}`,
    (words) => `cat <<'EOF'\n${words}\nEOF`,
    (words) => `printf '%s' '${words}'`,
    (words) => `find . -name '${words}'`,
    (words) => `test "$x" = '${words}'`,
    (words) => `sed -n '/${words.replaceAll('/', '\\/')}/p' f`,
    (words) => `jq '.a == "${words}"' f.json`,
    (words) => `bash -c "echo '${words}'"`,
    (words) => `x='${words}'; echo "$x"`,
  );
  const words = anyWhole.filter(
    (command) => /^[\w ./@:=-]+$/.test(command) && !/\.env|secret|id_rsa|pem|credentials|shadow|history/i.test(command),
  );
  fc.assert(
    fc.property(quote, words, (hide, command) => {
      expect(classifyCommand(hide(command)).class, hide(command)).toBe('READ_ONLY');
    }),
    { numRuns: 3000 },
  );
});

test('every program that is refused by name is refused by every way of writing the name', () => {
  const names = ['rm', 'sudo', 'mkfs', 'shutdown', 'docker', 'chroot', 'shred'];
  const spell = fc.constantFrom<(name: string) => string>(
    (name) => `'${name}'`,
    (name) => `"${name}"`,
    (name) => `\\${name}`,
    (name) => `${name.slice(0, 1)}''${name.slice(1)}`,
    (name) => `${name.slice(0, 1)}"${name.slice(1)}"`,
    (name) => `$'${[...name].map((each) => `\\x${each.charCodeAt(0).toString(16)}`).join('')}'`,
    (name) => `/usr/bin/${name}`,
    (name) => `/bin/../bin//${name}`,
    (name) => `\${x:-${name}}`,
    (name) => `$(echo ${name})`,
    (name) => `{${name},}`,
    (name) => `${name.slice(0, 1)}\\\n${name.slice(1)}`,
  );
  fc.assert(
    fc.property(fc.constantFrom(...names), spell, (name, write) => {
      const text = `${write(name)} -rf run`;
      expect(classifyCommand(text).verdict, text).toBe('refuse');
    }),
    { numRuns: 500 },
  );
});

test('what is not known asks, whatever its words', () => {
  const known = new Set(Object.values(ruleFamilies).flatMap((rules) => rules.flatMap((rule) => namesOf(rule.names))));
  fc.assert(
    fc.property(
      fc
        .stringMatching(/^[a-z][a-z0-9_]{5,12}$/)
        .filter((name) => !known.has(name) && !known.has(name.replace(/\d+$/, ''))),
      fc.array(fc.stringMatching(/^[\w./=-]{1,8}$/), { maxLength: 4 }),
      (name, words) => {
        expect(classifyCommand([name, ...words].join(' ')).class).toBe('MUTATING');
      },
    ),
    { numRuns: 1000 },
  );
});
