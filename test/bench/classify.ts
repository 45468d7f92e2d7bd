import { classifyCommand } from '@flotilla/policy/command/classify-command';
import { LENGTH_LIMIT } from '@flotilla/policy/command/limits';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** What classifying costs: every case of test/cases, and texts within the limits that are made to be slow. */
const MEDIAN_LIMIT_MS = 0.2;
const WORST_LIMIT_MS = 50;
const RUNS = Number(process.argv[2] ?? 20);

const hostile: Readonly<Record<string, (length: number) => string>> = {
  substitutions: (length) => `echo ${'$('.repeat(length / 3)}${')'.repeat(length / 3)}`,
  'open substitutions': (length) => '$('.repeat(length / 2),
  'substitutions side by side': (length) => `echo ${'$(a) '.repeat(length / 5)}`,
  'substitutions with quotes': (length) => `echo ${'"$(echo "a" "b")" '.repeat(length / 20)}`,
  'a few deep substitutions': (length) => `${`echo ${'$(echo '.repeat(30)}x${')'.repeat(30)};`.repeat(length / 250)}`,
  backquotes: (length) => `echo ${'`a` '.repeat(length / 4)}`,
  'escaped backquotes': (length) => `echo \`${'\\`'.repeat(length / 2 - 5)}\``,
  'quotes and backquotes': (length) => `echo ${'"`'.repeat(length / 2 - 3)}`,
  parentheses: (length) => '('.repeat(length),
  subshells: (length) => `${'( '.repeat(length / 4)}x${' )'.repeat(length / 4)}`,
  'process substitutions': (length) => `cat ${'<('.repeat(length / 3)}${')'.repeat(length / 3)}`,
  defaults: (length) => `echo ${'${a:-'.repeat(length / 6)}${'}'.repeat(length / 6)}`,
  subscripts: (length) => `echo ${'${a['.repeat(length / 6)}${']}'.repeat(length / 6)}`,
  slices: (length) => `echo ${'${a:'.repeat(length / 5)}${'}'.repeat(length / 5)}`,
  'expansions side by side': (length) => `echo ${'${a} '.repeat(length / 5)}`,
  'braces of two': (length) => `echo ${'{a,b}'.repeat(length / 5)}`,
  'nested braces': (length) => `echo ${'{a,'.repeat(length / 4)}${'}'.repeat(length / 4)}`,
  'open braces': (length) => `echo ${'{'.repeat(length - 5)}`,
  'braces and quotes': (length) => `echo ${`{'a',"b"}`.repeat(length / 9)}`,
  brackets: (length) => `echo ${'[a'.repeat(length / 2 - 3)}`,
  patterns: (length) => `echo ${'@(a|'.repeat(length / 5)}${')'.repeat(length / 5)}`,
  arithmetic: (length) => `echo $((${'1+'.repeat(length / 2 - 6)}1))`,
  'nested arithmetic': (length) => `echo ${'$(('.repeat(length / 3 - 2)}`,
  'arithmetic commands': (length) => '((a b)) ;'.repeat(length / 9),
  words: (length) => 'ls a '.repeat(length / 5),
  'long words': (length) => `ls ${'a'.repeat(length - 3)}`,
  'long options': (length) => `git ${'-c a.b=c '.repeat(length / 9)}status`,
  commands: (length) => 'a;'.repeat(length / 2),
  readers: (length) => 'ls;'.repeat(length / 3),
  pipes: (length) => `ls${'|ls'.repeat(length / 3 - 1)}`,
  lists: (length) => `ls${'&&ls'.repeat(length / 4 - 1)}`,
  'here-documents': (length) => `cat ${'<<E '.repeat(length / 8)}\n${'E\n'.repeat(length / 8)}`,
  'a here-document of substitutions': (length) => `cat <<E\n${'$(a)\n'.repeat(length / 5 - 4)}E`,
  'a quoted here-document': (length) => `cat > f <<'E'\n${'const a = `${b("c")}`;\n'.repeat(length / 24)}E`,
  conditionals: (length) => 'if a;then '.repeat(length / 10),
  cases: (length) => `echo ${'$(case x in x) '.repeat(length / 15)}`,
  functions: (length) => 'f()'.repeat(length / 3),
  'functions that call functions': (length) =>
    Array.from(
      { length: Math.min(60, length / 24) },
      (_, place) => `f${place}() { f${place - 1} a; f${place - 1} b; }; `,
    ).join('') + 'f59 x',
  assignments: (length) => 'a=1 '.repeat(length / 4),
  'assignments of several values': (length) => `${'a=b;a=c;a=d;a=e;'.repeat(8)}${'$a $a $a;'.repeat(length / 9 - 15)}`,
  'an array': (length) => `a=(${'b '.repeat(length / 2 - 4)})`,
  'an array as a command': (length) => `a=(${'b '.repeat(length / 2 - 20)});"\${a[@]}"`,
  tests: (length) => `[[ a ${'&& a '.repeat(length / 5 - 3)} ]]`,
  escapes: (length) => '\\'.repeat(length),
  redirects: (length) => `a ${'>b '.repeat(length / 3 - 1)}`,
  angles: (length) => '<'.repeat(length),
  wrappers: (length) => `${'env '.repeat(length / 4 - 1)}ls`,
  'shells in shells': (length) => `${'sh -c "'.repeat(length / 9)}ls${'"'.repeat(length / 9)}`,
  'evals of evals': (length) => `x='eval "$x"'; ${'eval "$x";'.repeat(length / 10 - 2)}`,
  'a sed program': (length) => `sed '${'s/[a]/b/;'.repeat(length / 9 - 2)}' f`,
  'a sed program of brackets': (length) => `sed 's/${'['.repeat(length - 10)}' f`,
  'an awk program': (length) => `awk '${'{print "a" > $1}'.repeat(length / 16 - 1)}' f`,
  'an awk program of slashes': (length) => `awk '${'/'.repeat(length - 10)}' f`,
  'an awk program of prints': (length) => `awk '${'print '.repeat(length / 6 - 3)}' f`,
  'secret paths': (length) => `cat ${'/a/.config'.repeat(length / 10 - 1)}`,
  'dashed names': (length) => `npm run ${'a-'.repeat(length / 2 - 6)}`,
  'slashes and dots': (length) => `cat ${'/../.'.repeat(length / 5 - 1)}`,
  'a program of find': (length) => `find . ${'-exec ls {} + '.repeat(length / 14 - 1)}`,
  'controls and blanks': (length) => '\u0000 \t\n'.repeat(length / 4),
  'errors on every line': (length) => ')\n'.repeat(length / 2),
};

const cases = ['commands.jsonl', 'more-commands.jsonl']
  .flatMap((name) =>
    readFileSync(new URL(`../cases/${name}`, import.meta.url), 'utf8')
      .trim()
      .split('\n'),
  )
  // The files are ours: each line is an object with a command.
  .map((line) => (JSON.parse(line) as { command: string }).command);

function measure(command: string): number {
  const start = performance.now();
  classifyCommand(command);
  return performance.now() - start;
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

console.log(`${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, Node ${process.version}`);
for (const command of cases) classifyCommand(command);

const times = Array.from({ length: RUNS }, () => cases.map(measure))
  .flat()
  .sort((one, other) => one - other);
const say = (ms: number): string => `${ms.toFixed(3)} ms`;
console.log(
  `${cases.length} cases, ${RUNS} runs each: median ${say(percentile(times, 0.5))}, 90 % ${say(percentile(times, 0.9))}, ` +
    `99 % ${say(percentile(times, 0.99))}, most ${say(times.at(-1) ?? 0)}`,
);

// The best of a few runs: a pause of the machine is no cost of the text.
const worst = Object.entries(hostile)
  .flatMap(([name, make]) =>
    [LENGTH_LIMIT, LENGTH_LIMIT / 2, LENGTH_LIMIT / 4, LENGTH_LIMIT / 16].map((length) => {
      const text = make(Math.floor(length)).slice(0, LENGTH_LIMIT);
      return { name, length: text.length, ms: Math.min(...Array.from({ length: 5 }, () => measure(text))) };
    }),
  )
  .sort((one, other) => other.ms - one.ms);
console.log(`${worst.length} hostile texts of up to ${LENGTH_LIMIT} characters, best of 5 runs each, the slowest ten:`);
for (const { name, length, ms } of worst.slice(0, 10)) console.log(`  ${say(ms)}  ${name}, ${length} characters`);

const good = percentile(times, 0.5) < MEDIAN_LIMIT_MS && (worst[0]?.ms ?? 0) < WORST_LIMIT_MS;
console.log(
  good ? 'within its limits' : `over its limits: median ${MEDIAN_LIMIT_MS} ms, any text ${WORST_LIMIT_MS} ms`,
);
process.exitCode = good ? 0 : 1;
