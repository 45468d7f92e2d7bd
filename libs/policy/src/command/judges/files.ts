import type { Call } from '../call.ts';
import { isNoFile, isRootLike, normalisePath, whyDestroyed } from '../judge-paths.ts';
import { resolvePath } from '../scope.ts';

/** `rm`: recursive and forced, or aimed at a root, is destructive; anything else changes files. Options may be abbreviated. */
export function judgeRm(call: Call): void {
  const flags = call.arguments.flags;
  const has = (short: RegExp, long: string): boolean =>
    flags.some((flag) => short.test(flag) || (flag.length > 3 && long.startsWith(flag)));
  const recursive = has(/^-[rR]$/, '--recursive');
  const force = has(/^-f$/, '--force');
  if (recursive && force) call.add('DESTRUCTIVE', 'removes a tree by force');
  if (flags.some((flag) => flag.length > 5 && '--no-preserve-root'.startsWith(flag)))
    call.add('DESTRUCTIVE', 'would remove the root');
  for (const operand of call.arguments.operands) {
    const path = resolvePath(call.scope, operand.text);
    if (isRootLike(operand.text) || isRootLike(path)) call.add('DESTRUCTIVE', `is aimed at ${operand.text}`);
    else if (whyDestroyed(path) !== undefined) call.add('DESTRUCTIVE', 'removes a device');
  }
}

/** `mv` into `/dev/null` loses the data, and moving a root moves everything. */
export function judgeMove(call: Call): void {
  const { operands } = call.arguments;
  if (operands.slice(1).some((operand) => normalisePath(operand.text) === '/dev/null'))
    call.add('DESTRUCTIVE', 'loses what it moves');
  if (operands.slice(0, -1).some((operand) => isRootLike(resolvePath(call.scope, operand.text))))
    call.add('DESTRUCTIVE', 'moves a whole root away');
}

export function judgeDd(call: Call): void {
  for (const { text } of call.words) {
    if (!text.startsWith('of=')) continue;
    const target = text.slice(3);
    const why = whyDestroyed(resolvePath(call.scope, target));
    if (why !== undefined) call.add('DESTRUCTIVE', why);
    else if (/^\/dev\/(?!null$|stdout$|stderr$|fd\/)/.test(normalisePath(target)))
      call.add('DESTRUCTIVE', 'writes to a device');
  }
}

/** `uniq in out`, `xxd -r dump bin`: the second operand is written. */
export function judgeOperandWrites(call: Call): void {
  const second = call.arguments.operands[1];
  if (second === undefined || second.text === '-') return;
  call.add('MUTATING', 'writes its second operand');
  const why = whyDestroyed(resolvePath(call.scope, second.text));
  if (why !== undefined) call.add('DESTRUCTIVE', why);
}

/** A set-user-id or set-group-id bit is a privilege; a recursive change of a root is the end of the machine. */
export function judgeChmod(call: Call): void {
  const mode = call.words.find((word) => !/^-(-|[RcfvhLHP]+$)/.test(word.text))?.text ?? '';
  if (
    call.name === 'chmod' &&
    (/^([ugoa]*[+=][rwxXt]*s)/.test(mode) ||
      mode.split(',').some((each) => /[+=].*s/.test(each)) ||
      /^0?[2-7]\d{3}$/.test(mode))
  )
    call.add('PRIVILEGED', 'gives a file the rights of its owner');
  const recursive = call.arguments.flags.some((flag) => flag === '-R' || flag === '--recursive');
  const targets = call.arguments.operands.slice(1);
  if (recursive && targets.some((operand) => isRootLike(resolvePath(call.scope, operand.text))))
    call.add('DESTRUCTIVE', 'changes the rights of a whole root');
}

/** Signals to a process of one's own are a change; to everything, destructive. Listing signals is nothing. */
export function judgeKill(call: Call): void {
  const words = call.words.map((word) => word.text);
  if (/^-(l|L|-list|-table)/.test(words[0] ?? '')) return;
  if (words.length === 0) return;
  call.add('DESTRUCTIVE', 'ends processes');
}

export function judgeDate(call: Call): void {
  const set =
    call.words.some((word) => /^(-s|--s)/.test(word.text)) ||
    call.arguments.operands.some((operand) => /^\d{8,}/.test(operand.text));
  if (set) call.add('PRIVILEGED', 'sets the clock');
}

/** `tar`: listing reads, everything else writes; a bundle of letters may come first, with a dash or without. */
export function judgeTar(call: Call): void {
  const [first, ...rest] = call.words.map((word) => word.text);
  const letters = first !== undefined && /^[A-Za-z]+$/.test(first) ? first : '';
  const clusters = [letters, ...(letters === '' && first !== undefined ? [first] : []), ...rest].filter(
    (word) => word === letters || /^-[A-Za-z]/.test(word),
  );
  const lists =
    clusters.some((word) => /^-?[A-Za-z]*t/.test(word)) || call.words.some((word) => word.text === '--list');
  const writes =
    clusters.some((word) => /^-?[A-Za-z]*[xcruA]/.test(word.replace(/^(-?[A-Za-z]*?)[fCIbNTX].*$/, '$1'))) ||
    call.words.some((word) => /^--(extract|get|create|append|update|delete|concatenate|catenate)$/.test(word.text));
  if (!lists || writes) call.add('MUTATING', 'packs or unpacks files');
  const archive = call.words.map((word) => word.text).find((text) => /^[\w.@-]+:[^/]?/.test(text));
  if (archive !== undefined) call.add('NETWORK', 'reads an archive on another host');
  for (const word of call.words) {
    const why = whyDestroyed(word.text);
    if (why !== undefined && writes) call.add('DESTRUCTIVE', why);
  }
}

export function judgeTee(call: Call): void {
  if (!call.arguments.operands.every((operand) => isNoFile(operand.text))) call.add('MUTATING', 'writes to files');
}
