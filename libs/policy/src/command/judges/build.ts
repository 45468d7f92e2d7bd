import type { Call } from '../call.ts';
import type { CommandClass } from '../command-class.ts';
import { isDynamic, literal, type Field } from '../read-words.ts';
import { choosesCode } from '../judge-environment.ts';

const TARGETS: readonly (readonly [RegExp, CommandClass, string])[] = [
  [
    /^(test|tests|check|lint|typecheck|type-check|coverage|spec|unit|e2e|integration|verify|ci)([-:_.].*)?$/,
    'TEST',
    'runs tests or checks',
  ],
  [
    /(^|[-:_.])(deploy|publish|release|upload|push)([-:_.]|$)/,
    'REMOTE_MUTATION',
    'is named as something that leaves the sandbox',
  ],
  [
    /^(install|uninstall|clean|distclean|mrproper|realclean|purge|nuke|reset|format|fmt|fix|update|upgrade|migrate|seed|run|start|serve|dev|watch|up|down|setup|bootstrap|init|destroy|wipe|delete|remove|drop)([-:_.].*)?$/,
    'MUTATING',
    'is named as something that changes more than build outputs',
  ],
];

/** `make` and its like: every target by its name, the worst counts; variables may choose the programs of the rules. */
export function judgeMake(call: Call): void {
  const targets: Field[] = [];
  for (const operand of call.arguments.operands) {
    const assignment = /^([A-Za-z_.]\w*)\s*(:|::|:::|\?|\+|!)?=(.*)$/s.exec(operand.text);
    if (assignment === null) targets.push(operand);
    else if (changesTools(assignment[1] ?? '', assignment[3] ?? '') || isDynamic(operand))
      call.add('MUTATING', `sets ${assignment[1] ?? ''} for its rules`);
  }
  for (const { text } of call.words) {
    for (const match of text.matchAll(/\$[({]shell ([^)}]*)/g)) call.runShell(match[1] ?? '');
  }
  if (targets.length === 0) call.add('BUILD', 'builds');
  for (const target of targets) judgeTarget(target, call);
}

function changesTools(name: string, value: string): boolean {
  if (name === 'SHELL' || name === '.SHELLFLAGS' || name === 'MAKE' || /[`$;|&(]/.test(value)) return true;
  return (
    choosesCode(name, value) ||
    (/^[A-Z_]*(CMD|COMMAND|TOOL|PROG|EXEC|INSTALL|RM|PREFIX|DESTDIR)$/.test(name) && value !== '')
  );
}

/** The tasks of gradle, just, rake, task: as the targets of make. */
export function judgeTasks(call: Call): void {
  const tasks = call.arguments.operands.filter((operand) => !/^[\w.]+=/.test(operand.text));
  if (tasks.length === 0) call.add('BUILD', 'builds');
  for (const task of tasks) {
    const name = task.text.replace(/^:?(.*:)?/, '');
    if (call.name === 'gradle' && /^(clean|assemble|install\w*|check|jar)$/.test(name))
      call.add(name === 'check' ? 'TEST' : 'BUILD', 'builds');
    else judgeTarget({ ...task, text: name }, call);
  }
}

function judgeTarget(target: Field, call: Call): void {
  if (isDynamic(target)) {
    call.add('MUTATING', 'computes its target');
    return;
  }
  const known = TARGETS.find(([pattern]) => pattern.test(target.text));
  if (known === undefined) call.add('BUILD', 'builds');
  else call.add(known[1], known[2]);
}

/** A script of package.json by its name: nobody reads what it runs. */
export function judgeNpmScript(call: Call): void {
  const script = call.arguments.operands[0];
  if (script === undefined) call.add('READ_ONLY', 'lists the scripts');
  else if (isDynamic(script)) call.add('MUTATING', 'computes the name of the script');
  else {
    judgeScriptName(script.text, call);
    if (call.words.some((word) => REWRITES.test(word.text)))
      call.add('MUTATING', 'passes on an option that rewrites files');
  }
}

function judgeScriptName(name: string, call: Call): void {
  if (/(^|[-:_.])(deploy|publish|release|upload)([-:_.]|$)/.test(name))
    call.add('REMOTE_MUTATION', 'is named as something that leaves the sandbox');
  else if (
    /(^|[-:_.])(fix|write|update|clean|reset|install|migrate|seed|watch|dev|start|serve|format)([-:_.]|$)/.test(name)
  )
    call.add('MUTATING', 'is a script that nobody read');
  else if (/^(test|tests|t|tst|unit|e2e|spec|coverage|ci)([-:_.]\w.*)?$/.test(name)) call.add('TEST', 'runs tests');
  else if (
    /^(build|compile|bundle|lint|typecheck|type-check|types|check|tsc|dist|transpile|verify|validate|vet|eslint|size)([-:_.]\w.*)?$/.test(
      name,
    )
  )
    call.add('BUILD', 'builds or checks');
  else call.add('MUTATING', 'is a script that nobody read');
}

/** `npx`, `npm exec`, `uvx`: a known tool is judged as itself; any other is downloaded and run. */
export function judgeNpx(call: Call): void {
  const { tail, operands, options } = call.arguments;
  const first = operands[0];
  if (first === undefined) {
    if (!options.some((option) => option.effect.value !== undefined)) call.add('MUTATING', 'runs a package');
    return;
  }
  const name = first.text.replace(/(?<=.)@[\w.^~-]+$/, '');
  if (!KNOWN_TOOLS.test(name)) call.add('MUTATING', 'downloads and runs a package');
  call.runWords([{ text: name, computed: first.computed }, ...tail.slice(1)]);
}

const KNOWN_TOOLS =
  /^(tsc|tsgo|jest|vitest|mocha|ava|tap|c8|nyc|playwright|cypress|eslint|prettier|biome|stylelint|oxlint|knip|depcheck|webpack|rollup|vite|esbuild|tsup|tsdown|swc|babel|parcel|turbo|nx|lerna|rimraf|nest|ng|next|nuxt|astro|svelte-check|vue-tsc|tsd|attw|publint|size-limit|ruff|mypy|pytest|black|flake8|pyright|isort)$/;

/** `npm test`: options after the dashes may rewrite what the tests compare with. */
export function judgeNpmTest(call: Call): void {
  call.add('TEST', 'runs the tests of the project');
  if (call.words.some((word) => REWRITES.test(word.text)))
    call.add('MUTATING', 'passes on an option that rewrites files');
}

const REWRITES = /^(-u|--update|--updateSnapshot|--update-snapshots?|--snapshot-update|--fix|--write)$/;

/** `yarn workspace NAME …`, `yarn workspaces foreach … run …`: what follows is said to yarn again. */
export function judgeYarnWorkspace(call: Call): void {
  const { operands, tail } = call.arguments;
  const start = operands.findIndex((operand) => /^(run|exec|test|build)$/.test(operand.text));
  const rest = call.form.stops ? tail.slice(1) : operands.slice(Math.max(start, 0));
  if (rest.length === 0) call.add('MUTATING', 'runs what is not named');
  else call.runWords([literal('yarn'), ...rest]);
}

/** `nx`, `turbo`, `lerna`: targets by their names, wherever they stand. */
export function judgeWorkspace(call: Call): void {
  const words = call.words.map((word) => word.text);
  const dashes = words.indexOf('--');
  const verb = call.arguments.operands[0]?.text ?? '';
  if (/^(exec)$/.test(verb)) {
    if (dashes !== -1) call.runWords(call.words.slice(dashes + 1));
    else call.add('MUTATING', 'runs what is not named');
    return;
  }
  if (
    /^(graph|dep-graph|migrate|reset|import|init|add|g|generate|connect|daemon|version|bootstrap|clean|create|login|link|prune|gen|watch|format|format:write|sync|install|update|purge|repair|view-logs|console)$/.test(
      verb,
    )
  ) {
    call.add('MUTATING', 'changes the workspace');
    return;
  }
  if (/^(show|report|list|ls|info|diff|changed|help|--version|--help)?$/.test(verb)) {
    call.add('READ_ONLY', 'says what it knows');
    return;
  }
  for (const target of workspaceTargets(verb, words.slice(0, dashes === -1 ? words.length : dashes)))
    judgeTarget(literal(target), call);
}

function workspaceTargets(verb: string, words: readonly string[]): readonly string[] {
  const rest = words.slice(words.indexOf(verb) + 1);
  if (verb === 'run') return rest.filter((word) => !word.startsWith('-')).map((word) => word.split(':')[1] ?? word);
  if (/^(run-many|affected)$/.test(verb)) {
    const targets: string[] = [];
    let taking = false;
    for (const word of rest) {
      const given = /^(-t|--targets?)(=(.*))?$/.exec(word);
      if (given !== null) {
        taking = given[3] === undefined;
        targets.push(...(given[3]?.split(',') ?? []));
      } else if (word.startsWith('-')) taking = false;
      else if (taking) targets.push(...word.split(','));
    }
    return targets.length === 0 ? ['run'] : targets;
  }
  return [verb];
}

/** Maven's phases and goals. */
export function judgeMaven(call: Call): void {
  const { operands } = call.arguments;
  if (operands.length === 0) call.add('BUILD', 'builds');
  for (const operand of operands) {
    const goal = operand.text;
    if (isDynamic(operand)) call.add('MUTATING', 'computes its goal');
    else if (/^(deploy|site-deploy|release|release:.*|.*:(deploy|release|publish|upload|push).*)$/.test(goal))
      call.add('REMOTE_MUTATION', 'publishes', true);
    else if (/^(test|integration-test|verify|surefire:test|failsafe:.*|.*:check)$/.test(goal))
      call.add('TEST', 'runs tests');
    else if (
      /^(validate|initialize|compile|test-compile|package|install|clean|site|process-[\w-]+|generate-[\w-]+|prepare-package|dependency:(tree|analyze|list)|help:.*|versions:display.*)$/.test(
        goal,
      )
    )
      call.add('BUILD', 'builds');
    else call.add('MUTATING', 'runs a goal that nobody read');
  }
}

/** `cmake -E` is a small tool of its own; `--target` names what a make would. */
export function judgeCmake(call: Call): void {
  const { words } = call;
  const tool = words.findIndex((word) => word.text === '-E');
  if (tool !== -1) judgeCmakeTool(words.slice(tool + 1), call);
  for (const [index, word] of words.entries()) {
    if (/^(--target|-t)$/.test(words[index - 1]?.text ?? '')) judgeTarget(word, call);
  }
}

function judgeCmakeTool(words: readonly Field[], call: Call): void {
  const name = words[0]?.text ?? '';
  if (/^(env|time)$/.test(name)) call.runWords(words);
  else if (name === 'chdir') call.runWords(words.slice(2));
  else if (/^(rm|remove)$/.test(name)) call.runWords([literal('rm'), ...words.slice(1)]);
  else if (name === 'remove_directory') call.add('DESTRUCTIVE', 'removes a tree');
  else if (!/^(echo|capabilities|compare_files|md5sum|sha\d+sum|true|false|sleep|cat|environment)$/.test(name))
    call.add('MUTATING', 'changes files');
}

/** A file of options may hold any of them. */
export function judgeCompiler(call: Call): void {
  if (call.arguments.operands.some((operand) => operand.text.startsWith('@')))
    call.add('MUTATING', 'takes its options from a file');
  if (
    call.words.some((word) => /^-f?plugin=|^-fplugin|^-specs=|^-B|^-J|^-Wl,.*(plugin|dynamic-linker)/.test(word.text))
  )
    call.add('MUTATING', 'loads a plugin');
}

/** Runners that wrap a command, or that have verbs of their own. */
export function judgeTestRunner(call: Call): void {
  const first = call.arguments.operands[0]?.text ?? '';
  if (/^(c8|nyc)$/.test(call.name)) {
    const start = call.words.findIndex((word) => !word.text.startsWith('-'));
    if (start !== -1) call.runWords(call.words.slice(start));
  } else if (
    /^(install|install-deps|uninstall|codegen|open|show-report|show-trace|init|update|cr|launch|cache|clear-cache|merge-reports)$/.test(
      first,
    ) &&
    /^(playwright|cypress|codecept|karma|tox|web-test-runner|wtr|testem)$/.test(call.name)
  )
    call.add('MUTATING', 'installs, opens or starts something');
}

export function judgeFixVerb(call: Call): void {
  const first = call.arguments.operands[0]?.text ?? '';
  if (
    /^(fix|migrate|init|install|update|upgrade|autocorrect|start|stop|clean|rage|lsp-proxy|daemon|serve|server)$/.test(
      first,
    )
  )
    call.add('MUTATING', 'rewrites files or starts something');
}

const PRINTS_UNLESS_TOLD =
  /^(gofmt|goimports|gofumpt|shfmt|clang-format|google-java-format|swift-format|yapf|autopep8|docformatter|autoflake|cmake-format|buildifier|nixfmt)$/;

/** Formatters: some print unless told to write, others write unless told to check. */
export function judgeFormatter(call: Call): void {
  const words = call.words.map((word) => word.text);
  if (PRINTS_UNLESS_TOLD.test(call.name)) {
    if (
      words.some((word) => /^(-[a-z]*[wir]|--write|--in-place|-w=true|--inplace|--replace|-i|--recursive)$/.test(word))
    )
      call.add('MUTATING', 'rewrites files');
    return;
  }
  if (
    words.some((word) =>
      /^--?(check|check-formatted|check-only|diff|dry-run|verify|lint|list-different|output=none|set-exit-if-changed|n)(=|$)/.test(
        word,
      ),
    ) ||
    (call.name === 'isort' && words.includes('-c'))
  )
    call.add('TEST', 'checks the format');
  else if (words.length > 0 && words.every((word) => word === '-' || word.startsWith('-')) && words.includes('-'))
    call.add('READ_ONLY', 'formats its input');
  else call.add('MUTATING', 'rewrites files');
}

/** `mise exec -- COMMAND`, `rustup run nightly COMMAND`, `direnv exec . COMMAND`. */
export function judgeAfterDashes(call: Call): void {
  const dashes = call.words.findIndex((word) => word.text === '--');
  const { operands } = call.arguments;
  if (dashes !== -1) call.runWords(call.words.slice(dashes + 1));
  else {
    for (const start of [0, 1]) {
      const from = operands[start];
      if (from !== undefined) call.runWords(call.words.slice(call.words.indexOf(from)));
    }
  }
}

/** A module that is not here is what nobody read: many import, or run, what they are told. */
const MODULES: readonly (readonly [RegExp, CommandClass, string])[] = [
  [/^(pytest|unittest|nose2?|tox|nox|doctest|coverage|behave|trial|green)$/, 'TEST', 'runs tests'],
  [
    /^(mypy|pyright|ruff|flake8|pylint|pyflakes|pycodestyle|bandit|vulture|compileall|py_compile|tabnanny)$/,
    'TEST',
    'checks the code',
  ],
  [
    /^(json\.tool|this|platform|sysconfig|site|calendar|ast|dis|tokenize|keyword|symtable|colorsys|textwrap)$/,
    'READ_ONLY',
    'only shows',
  ],
  [/^(build|pep517)(\..*)?$/, 'BUILD', 'builds'],
  [
    /^(http\.server|SimpleHTTPServer|smtpd|ftplib|telnetlib|xmlrpc\.server|webbrowser)$/,
    'NETWORK',
    'opens a network connection',
  ],
];

/** Python: a module by its name, a program that is typed in or a file that nobody read. */
export function judgePython(call: Call): void {
  const { words } = call;
  if (words.length === 1 && /^(-V|-VV|--version|--help|-h|-\?)$/.test(words[0]?.text ?? '')) return;
  for (let index = 0; index < words.length; index += 1) {
    const text = words[index]?.text ?? '';
    if (/^-[bBdEhiIOqsSuvVx]*c/.test(text)) {
      // A text that is written out can be read; one that is computed cannot.
      if (words.slice(index).some(isDynamic)) call.runUnread('runs a program that is computed');
      else call.add('MUTATING', 'runs a program that is typed in');
      return;
    }
    const module = /^-[bBdEhiIOqsSuvVx]*m(.*)$/.exec(text);
    if (module !== null) {
      if (/^-[^m]*i/.test(text)) call.runUnread('goes on with what it is fed');
      const name = module[1] === '' ? words[index + 1] : { text: module[1] ?? '', computed: false };
      judgeModule(name, words.slice(index + (module[1] === '' ? 2 : 1)), call);
      return;
    }
    if (/^-[WXQ]$/.test(text)) index += 1;
    else if (!text.startsWith('-') || text === '-') {
      call.runUnread(text === '-' ? 'runs whatever it is fed' : 'runs a program that nobody read');
      return;
    }
  }
  call.runUnread(call.fed ? 'runs whatever it is fed' : 'starts an interpreter');
}

function judgeModule(name: Field | undefined, rest: readonly Field[], call: Call): void {
  if (name === undefined || isDynamic(name)) {
    call.add('MUTATING', 'computes its module');
    return;
  }
  if (
    /^(pip|twine|black|isort|ruff|mypy|pytest|coverage|poetry|uv|pipx|flake8|pylint|nox|tox|nose2|trial)$/.test(
      name.text,
    )
  ) {
    if (name.text === 'coverage') judgeCoverage(rest, call);
    else call.runWords([literal(name.text), ...rest]);
    return;
  }
  if (name.text === 'json.tool' && rest.filter((word) => !word.text.startsWith('-')).length > 1)
    call.add('MUTATING', 'writes its second operand');
  if (name.text === 'sysconfig' && rest.length > 0) call.add('MUTATING', 'writes what the interpreter was built with');
  const known = MODULES.find(([pattern]) => pattern.test(name.text));
  if (known === undefined) call.add('MUTATING', 'runs a module that nobody read');
  else call.add(known[1], known[2]);
}

function judgeCoverage(rest: readonly Field[], call: Call): void {
  if (rest[0]?.text === 'run') judgePython({ ...call, words: rest.slice(1) });
  else call.add('TEST', 'shows what the tests cover');
}
