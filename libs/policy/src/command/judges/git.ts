import type { Call } from '../call.ts';
import { isDynamic } from '../read-words.ts';
import { resolvePath } from '../scope.ts';

/** Options of git itself, before the verb: another repository, or configuration for this one call. */
export function judgeGit(call: Call): void {
  const { words } = call;
  for (let index = 0; index < words.length; index += 1) {
    const text = words[index]?.text ?? '';
    if (!text.startsWith('-')) break;
    if (text === '-C') {
      index += 1;
      judgeDirectory(words[index]?.text ?? '', call);
    } else if (text === '-c') {
      index += 1;
      judgeSetting(words[index]?.text ?? '', call);
    } else if (/^-c./.test(text)) judgeSetting(text.slice(2), call);
    else if (/^--(git-dir|work-tree|namespace|super-prefix|attr-source|list-cmds)$/.test(text)) index += 1;
  }
  if (/^\/(tmp|var\/tmp|dev\/shm)(\/|$)/.test(call.scope.directory))
    call.add('MUTATING', 'obeys the configuration of a repository in a temporary directory');
}

function judgeDirectory(path: string, call: Call): void {
  const directory = resolvePath(call.scope, path);
  if (/^\/workspace(\/|$)/.test(directory) && !directory.includes('..')) return;
  if (/^[/~]|(^|\/)\.\.(\/|$)/.test(directory) || path === '')
    call.add('MUTATING', 'obeys the configuration of another repository');
}

/** Keys that choose how something is shown or recorded, and nothing that runs. */
const HARMLESS_KEYS =
  /^(color\.|column\.|advice\.|log\.(?!.*(mailmap.*file))|status\.|diff\.(algorithm|renames|renamelimit|noprefix|mnemonicprefix|context|interhunkcontext|wordregex|colormoved\w*|submodule|statgraphwidth|relative|suppressblankempty|indentheuristic|ignoresubmodules)$|merge\.(conflictstyle|renames|renamelimit|ff|stat|autostash)$|pull\.(rebase|ff)$|rebase\.(autosquash|autostash|updaterefs)$|core\.(quotepath|abbrev|autocrlf|safecrlf|filemode|ignorecase|longpaths|precomposeunicode|commentchar|whitespace|compression|bare|eol|preloadindex|untrackedcache)$|user\.(name|email|useconfigonly)$|author\.|committer\.|init\.defaultbranch$|commit\.(gpgsign|verbose|cleanup)$|tag\.(gpgsign|sort)$|push\.(default|followtags|autosetupremote)$|fetch\.(prune|prunetags|parallel)$|grep\.|blame\.|branch\.sort$|i18n\.|gc\.auto$|pack\.threads$|index\.version$|feature\.|versionsort\.|format\.(pretty|signoff|numbered))/;
const RUNS =
  /(pager|editor|command|cmd|program|helper|external|textconv|driver|clean|smudge|process|fsmonitor|hook|packobjectshook|uploadpack|receivepack)$|^alias\.|^pager\./;

/** `key=value` of `-c`: names are case-insensitive; a value that git would run is judged as the command it is. */
function judgeSetting(setting: string, call: Call): void {
  const equals = setting.indexOf('=');
  const key = (equals === -1 ? setting : setting.slice(0, equals)).toLowerCase();
  const value = equals === -1 ? '' : setting.slice(equals + 1);
  if (HARMLESS_KEYS.test(key)) return;
  if (/^(core\.pager|pager\.\w+)$/.test(key) && /^(cat|less|false|true|)$/.test(value)) return;
  if (/^(core\.fsmonitor|credential\.helper|core\.editor)$/.test(key) && /^(false|true|)$/.test(value)) return;
  call.add('MUTATING', `sets ${key} for git, which may run programs`);
  if (RUNS.test(key) && value !== '') runSetting(key, value, call);
}

function runSetting(key: string, value: string, call: Call): void {
  if (key.startsWith('alias.') && !value.startsWith('!')) call.runShell(`git ${value}`);
  else call.runShell(value.replace(/^!/, ''));
}

/** `git config`: reading a value reads, credentials apart; anything that is set may be run later. */
export function judgeGitConfig(call: Call): void {
  const words = call.words.map((word) => word.text);
  const operands = call.arguments.operands.map((operand) => operand.text);
  const [verb] = operands;
  const newVerb =
    verb !== undefined && /^(list|get|set|unset|rename-section|remove-section|edit)$/.test(verb) ? verb : undefined;
  const keys = newVerb === undefined ? operands : operands.slice(1);
  const gets =
    newVerb === 'list' ||
    newVerb === 'get' ||
    words.some((word) =>
      /^(--get|--get-all|--get-regexp|--get-urlmatch|--get-color|--get-colorbool|--list|-l|--name-only)$/.test(word),
    );
  const sets =
    (newVerb !== undefined && !gets) ||
    words.some((word) =>
      /^(--add|--unset|--unset-all|--replace-all|--rename-section|--remove-section|--edit|-e)$/.test(word),
    );
  if (sets || (!gets && keys.length > 1)) {
    const [key = '', value = ''] = keys;
    call.add('GIT_MUTATION', 'sets the configuration');
    if (RUNS.test(key.toLowerCase()) && value !== '' && !isHarmlessProgram(value))
      runSetting(key.toLowerCase(), value, call);
    return;
  }
  if (keys.length === 0 && !gets) return;
  if (keys.some((key) => /credential|extraheader|token|password|secret|cookiefile|smtppass/i.test(key)))
    call.add('MUTATING', 'shows what may be a secret');
}

function isHarmlessProgram(value: string): boolean {
  return /^(cat|less|more|true|false|vi|vim|nano|code|emacs)( -{1,2}[\w-]+)*$/.test(value);
}

const READING_FLAGS: Readonly<Record<'branch' | 'tag', RegExp>> = {
  branch:
    /^(-a|-r|-l|-v|-vv|--list|--all|--remotes|--show-current|--contains|--no-contains|--merged|--no-merged|--points-at|--sort|--format|--column|--verbose)(=|$)/,
  tag: /^(-l|-n\d*|--list|--contains|--no-contains|--merged|--no-merged|--points-at|--sort|--format|--column|-v|--verify)(=|$)/,
};
const CHANGING_FLAGS: Readonly<Record<'branch' | 'tag', RegExp>> = {
  branch:
    /^(-[a-zA-Z]*[dDmMcCfu]|--delete|--move|--copy|--force|--edit-description|--set-upstream|--set-upstream-to|--unset-upstream|--track|-t)/,
  tag: /^(-[a-zA-Z]*[dfasumF]|--delete|--force|--annotate|--sign|--message|--file|--local-user)/,
};

/** `git branch`, `git tag`, and others that list without operands and change with them. */
export function judgeGitBranch(call: Call): void {
  judgeGitList(call, 'branch');
}

export function judgeGitTag(call: Call): void {
  judgeGitList(call, 'tag');
}

function judgeGitList(call: Call, verb: 'branch' | 'tag'): void {
  const words = call.words.map((word) => word.text);
  const flags = words.filter((word) => word.startsWith('-'));
  const changes = flags.some((flag) => CHANGING_FLAGS[verb].test(flag) && !/^-(vv?|ar|ra|av|va|avv|r?vv?)$/.test(flag));
  const lists = flags.some((flag) => READING_FLAGS[verb].test(flag) || /^-[arv]+$/.test(flag));
  const deletes = flags.some((flag) =>
    verb === 'branch'
      ? /^-[a-zA-Z]*D|^--delete.*/.test(flag) &&
        (flag.includes('D') || flags.includes('--force') || flags.includes('-f'))
      : /^-[a-zA-Z]*d|^--delete/.test(flag),
  );
  if (changes) call.add('GIT_MUTATION', `changes a ${verb}`, deletes);
  else if (!lists && words.some((word) => !word.startsWith('-'))) call.add('GIT_MUTATION', `makes a ${verb}`);
  else call.add('READ_ONLY', 'lists');
}

/** `git push`: forced, deleting and mirroring pushes overwrite what others have. */
export function judgeGitPush(call: Call): void {
  const final = call.words.some(
    ({ text }, index) =>
      /^(--force|-f|--force-with-lease|--force-if-includes|--mirror|--delete|-d|--prune)(=|$)/.test(text) ||
      /^-[a-zA-Z]*[fd][a-zA-Z]*$/.test(text) ||
      (/^[+:]/.test(text) && index >= 0),
  );
  call.add('REMOTE_MUTATION', final ? 'overwrites or deletes what is on the remote' : 'publishes commits', final);
  if (call.arguments.operands.some(isDynamic)) call.add('REMOTE_MUTATION', 'computes where it pushes');
}

/** `git apply --check` and `git format-patch --stdout` only show. */
export function judgeGitCheck(call: Call): void {
  const shows =
    call.words.some(({ text }) => /^--(check|stat|numstat|summary|stdout)$/.test(text)) &&
    !call.words.some(({ text }) => text === '--apply');
  if (!shows)
    call.add(
      call.words.some(({ text }) => /^(-o|--output-directory)/.test(text)) ? 'MUTATING' : 'GIT_MUTATION',
      'applies or writes patches',
    );
}

/** `git checkout -- FILE`, `git restore FILE`: what was not committed is lost. */
export function judgeGitDiscard(call: Call): void {
  const words = call.words.map((word) => word.text);
  const staged =
    words.some((word) => /^(--staged|-S)$/.test(word)) && !words.some((word) => /^(--worktree|-W)$/.test(word));
  const paths = words.includes('--') || words.includes('.') || words.some((word) => /^--pathspec/.test(word));
  if (paths && !staged) call.add('GIT_MUTATION', 'drops changes that are not committed', true);
}

/** `git remote show NAME` asks the remote; without a name it lists. */
export function judgeGitRemoteShow(call: Call): void {
  if (call.arguments.operands.length > 0 && !call.words.some((word) => word.text === '-n'))
    call.add('NETWORK', 'asks the remote');
}

/** Reads with one operand, writes with two. */
export function judgeGitTwoOperands(call: Call): void {
  if (call.arguments.operands.length > 1) call.add('GIT_MUTATION', 'sets a reference');
}

/** `git clean`: what it removes, git never knew; with `-n` it only says what it would. */
export function judgeGitClean(call: Call): void {
  const { flags } = call.arguments;
  if (flags.some((flag) => flag === '-n' || (flag.length > 3 && '--dry-run'.startsWith(flag)))) return;
  const forced = flags.some((flag) => flag === '-f' || (flag.length > 3 && '--force'.startsWith(flag)));
  call.add('GIT_MUTATION', 'removes files that git does not know', forced);
}
