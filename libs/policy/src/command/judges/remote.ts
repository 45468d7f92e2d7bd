import type { Call } from '../call.ts';
import { HOLE } from '../findings.ts';
import { isDynamic } from '../read-words.ts';

/** `curl`: a request that deletes cannot be taken back; a file named in its words is sent. */
export function judgeCurl(call: Call): void {
  const words = call.words.map((word) => word.text);
  const method = words.find(
    (word, index) => /^(-X|--request)$/.test(words[index - 1] ?? '') || /^(-X.|--request=)/.test(word),
  );
  if (method !== undefined && /DELETE/i.test(method)) call.add('NETWORK', 'asks a server to delete', true);
}

/** `rsync`, `scp`: between two places of this machine nothing leaves it. */
export function judgeRemoteCopy(call: Call): void {
  const remote = call.arguments.operands.some(
    (operand) => isDynamic(operand) || /^(rsync:\/\/|scp:\/\/|[\w.@-]+::?(?!\/\/))/.test(operand.text),
  );
  if (remote || call.name === 'scp') call.add('NETWORK', 'copies to or from another host');
  else call.add('MUTATING', 'copies files');
}

const READING_METHODS = /^(GET|HEAD)$/i;

/** `gh api`: a method or a field makes it a change; GraphQL is read only where its text is a query. */
export function judgeGhApi(call: Call): void {
  const words = call.words.map((word) => word.text);
  let method: string | undefined;
  let fields = false;
  for (const [index, word] of words.entries()) {
    if (/^(-X|--method)$/.test(word)) method = words[index + 1] ?? '';
    else if (/^(-X|--method=)./.test(word)) method = word.replace(/^(-X=?|--method=)/, '');
    if (/^(-f|-F|--field|--raw-field|--input)/.test(word)) fields = true;
  }
  const graphql = words.some((word) => /^\/?graphql$/.test(word));
  const mutation =
    words.some((word) => /mutation/i.test(word)) || words.some((word) => /^(--input|query=@)/.test(word));
  const reads =
    method === undefined ? !fields || (graphql && !mutation) : READING_METHODS.test(method) || (graphql && !mutation);
  if (reads) call.add('NETWORK', 'reads over the network');
  else call.add('REMOTE_MUTATION', 'changes something at the forge', /DELETE/i.test(method ?? ''));
}

/** Clients of databases: a statement that drops or empties cannot be taken back. */
export function judgeSql(call: Call): void {
  const text = `${call.words.map((word) => word.text).join(' ')} ${call.stdin ?? ''}`;
  if (
    /\b(drop\s+(table|database|schema|index|view|user|role|column)|truncate\b|delete\s+from|flushall|flushdb|dropDatabase|deleteMany|drop\(\))/i.test(
      text,
    )
  )
    call.add(call.form.is, 'removes data of a database', true);
}

/** `terraform`: global options stand before the verb; `plan -destroy` only plans. */
export function judgeTerraform(call: Call): void {
  if (call.words.some((word) => /^--?destroy(=true)?$/.test(word.text)))
    call.add('DESTRUCTIVE', 'destroys infrastructure');
}

const CLOUD_READS =
  /^(list|ls|describe|get|show|view|status|info|logs?|tail|whoami|version|help|head|search|lookup|filter|wait|scan|query|select|validate|diff|preview|inspect|ps|about|regions|releases|domains|test-invoke)([-:].*)?$/;
const CLOUD_CREDENTIALS =
  /(^|-)(credentials?|token|secret-value|session-token|login-password|access-token|print-access-token|print-identity-token|secret|secrets|password|parameters?|keys?|authorization-token|assume-role\S*)$/;

/** Clouds: the operation is one of the words; what is not known to read changes something. */
export function judgeCloud(call: Call): void {
  const operands = call.arguments.operands.map((operand) => operand.text);
  if (operands.length === 0 && call.words.every((word) => /^(--version|--help|-h|-v)$/.test(word.text))) {
    if (call.words.length > 0 || /^(aws|gcloud|az|gsutil)$/.test(call.name)) return;
  }
  if (call.name === 'aws' && operands[0] === 'configure') {
    if (operands.length > 1 && /^list/.test(operands[1] ?? '')) return;
    call.add('MUTATING', 'shows or changes credentials');
    return;
  }
  const operations = call.name === 'aws' ? operands.slice(1, 2) : operands;
  const copy = operands.findIndex((word) => /^(cp|sync|rsync)$/.test(word));
  const target = operands[copy + 2] ?? '';
  const downloads =
    /^(aws|gsutil)$/.test(call.name) &&
    copy !== -1 &&
    /^(s3|gs):/.test(operands[copy + 1] ?? '') &&
    target !== '' &&
    !/^(s3|gs):/.test(target) &&
    !target.includes(HOLE);
  const changing = operations.find((word) =>
    /(^|[-:])(delete|terminate|destroy|remove|rm|rb|purge|drop|create|update|put|set|deploy|run|start|stop|apply|mb|mv|rollback|publish|promote|add|enable|disable|invoke|send)([-:]|$)/.test(
      word,
    ),
  );
  const reads =
    downloads || (changing === undefined && operations.some((word) => CLOUD_READS.test(word) || /^print-/.test(word)));
  if (reads) {
    call.add('NETWORK', 'reads over the network');
    if (
      operations.some((word) => CLOUD_CREDENTIALS.test(word)) ||
      (operands[0] === 'secretsmanager' && /^get/.test(operands[1] ?? ''))
    )
      call.add('MUTATING', 'shows credentials');
    if (downloads) call.add('MUTATING', 'writes files');
    return;
  }
  if (operations.includes('destroy')) {
    call.add('DESTRUCTIVE', 'destroys infrastructure');
    return;
  }
  const final = operations.some((word) =>
    /(^|[-:])(delete|terminate|destroy|remove|rm|rb|purge|drop)([-:]|$)/.test(word),
  );
  call.add(
    'REMOTE_MUTATION',
    'changes something in a cloud',
    final || call.words.some((word) => word.text === '--delete'),
  );
}

/** What a shell on another host is fed is a program as well. */
export function judgeSsh(call: Call): void {
  if (call.name !== 'at' && call.arguments.operands.length > 1) return;
  if (call.stdin !== undefined && call.stdin !== '') call.runShell(call.stdin);
}

/** `socat`: an address may be a command. */
export function judgeSocat(call: Call): void {
  for (const { text } of call.words) {
    const command = /^(EXEC|SYSTEM|SHELL):(.*)$/is.exec(text);
    if (command !== null)
      call.runShell(
        (command[2] ?? '').replace(/,(pty|stderr|setsid|sigint|sane|ctty|fdin|fdout|nofork|su|login|pipes).*$/i, ''),
      );
    const opened = /^(OPEN|CREATE|FILE|GOPEN):(.*)$/i.exec(text);
    if (opened !== null) call.add('MUTATING', 'opens a file');
  }
}
