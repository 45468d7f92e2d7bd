import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { GitSetting } from './git-environment.ts';
import { describeRemote, type Remote } from './remote.ts';

export type RemoteCredential =
  | { readonly kind: 'none' }
  /** `username` defaults to `x-access-token`, which GitHub, GitLab and Gitea take with any token. */
  | { readonly kind: 'token'; readonly token: string; readonly username?: string }
  /** Host keys are accepted on first use and written to `knownHostsFile`; a changed one is refused. */
  | { readonly kind: 'ssh-key'; readonly keyFile: string; readonly knownHostsFile: string };

export interface RemoteAccess {
  readonly remote: Remote;
  readonly credential: RemoteCredential;
  /** Certificates to trust in the place of the system's, for a git server of one's own. */
  readonly certificateFile?: string | undefined;
}

/** How a git call is allowed to reach one remote, and only that one. */
export interface RemoteReach {
  readonly settings: readonly GitSetting[];
  readonly variables: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

/**
 * Opens exactly the remote's own protocol and gives the credential through the environment, for the exact host. Throws
 * remoteCredentialMismatch.
 */
export function reachRemote({ remote, credential, certificateFile }: RemoteAccess): RemoteReach {
  const protocol = remote.kind === 'local' ? 'file' : remote.kind;
  const settings: GitSetting[] = [[`protocol.${protocol}.allow`, 'always']];
  const variables: Record<string, string> = { GIT_ALLOW_PROTOCOL: protocol };
  if (certificateFile !== undefined) settings.push(['http.sslCAInfo', certificateFile]);
  switch (credential.kind) {
    case 'none':
      if (remote.kind === 'ssh') refuse(remote, 'an ssh address needs a key file');
      return { settings, variables, secrets: [] };
    case 'token': {
      if (remote.origin === undefined) return refuse(remote, 'a token needs an https address');
      const header = authorizationHeader(remote, credential.token, credential.username ?? 'x-access-token');
      settings.push([`http.${remote.origin}/.extraHeader`, header]);
      return { settings, variables, secrets: [credential.token, header.slice(header.lastIndexOf(' ') + 1)] };
    }
    case 'ssh-key': {
      if (remote.kind !== 'ssh') return refuse(remote, 'a key file needs an ssh address');
      variables['GIT_SSH_COMMAND'] = sshCommand(remote, credential.keyFile, credential.knownHostsFile);
      variables['GIT_SSH_VARIANT'] = 'ssh';
      return { settings, variables, secrets: [] };
    }
  }
}

function authorizationHeader(remote: Remote, token: string, username: string): string {
  if (token === '' || /[\u0000-\u0020\u007f-\uffff]/.test(token))
    refuse(remote, 'the token holds characters that a token cannot have');
  if (/[\u0000-\u0020:\u007f-\uffff]/.test(username))
    refuse(remote, 'the user name holds characters that it cannot have');
  return `Authorization: Basic ${Buffer.from(`${username}:${token}`).toString('base64')}`;
}

function sshCommand(remote: Remote, keyFile: string, knownHostsFile: string): string {
  for (const path of [keyFile, knownHostsFile]) {
    if (!path.startsWith('/') || /[\u0000-\u001f"'\\%$~]/.test(path)) {
      refuse(remote, 'the key and known-hosts files need absolute paths without quotes, % and $');
    }
  }
  const options = [
    'BatchMode=yes',
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'PreferredAuthentications=publickey',
    'StrictHostKeyChecking=accept-new',
    `UserKnownHostsFile="${knownHostsFile}"`,
    'GlobalKnownHostsFile=/dev/null',
    'UpdateHostKeys=no',
    'ForwardAgent=no',
    'ForwardX11=no',
    'ClearAllForwardings=yes',
    'PermitLocalCommand=no',
    'ProxyCommand=none',
    'ControlPath=none',
    'ConnectTimeout=20',
    'ServerAliveInterval=15',
    'ServerAliveCountMax=4',
  ];
  return ['ssh', '-F', '/dev/null', '-i', keyFile, ...options.flatMap((option) => ['-o', option])]
    .map(quoteForShell)
    .join(' ');
}

function quoteForShell(word: string): string {
  return /^[A-Za-z0-9/_.=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function refuse(remote: Remote, reason: string): never {
  throw new FlotillaError(errors.remoteCredentialMismatch, { remote: describeRemote(remote), reason });
}
