import { join } from 'node:path';
import type { Project } from '@flotilla/contracts/project';
import { openMirror, type Mirror } from '@flotilla/git/mirror';
import { parseRemote, type Remote } from '@flotilla/git/remote';
import type { RemoteCredential } from '@flotilla/git/remote-access';
import type { RunGit } from '@flotilla/git/run-git';
import type { CredentialDirectory } from '../credentials/credential-directory.ts';
import { remoteHost } from '../domain/remote-host.ts';

export interface RemoteMirrors {
  readonly git: RunGit;
  readonly mirrorDirectory: string;
  readonly credentialDirectory: string;
  readonly credentials: Pick<CredentialDirectory, 'read'>;
  /** Certificates that an https remote is trusted by, in the place of the host's. */
  readonly certificateFile?: string | undefined;
  /** The fleet's own directories: no project's remote lies there. */
  readonly refusedUnder: readonly string[];
}

/**
 * Opens the mirror of a project's remote with the project's credential. Does not speak to the remote. What is done with the
 * mirror ends with the signal; without one nothing cuts it short.
 */
export async function openRemoteMirror(
  { git, mirrorDirectory, credentialDirectory, credentials, certificateFile, refusedUnder }: RemoteMirrors,
  project: Pick<Project, 'remote' | 'credential'>,
  signal?: AbortSignal,
): Promise<Mirror> {
  const remote = parseRemote(project.remote, { refusedUnder });
  const credential = await readCredential(credentials, credentialDirectory, project, remote);
  return openMirror({ cacheDirectory: mirrorDirectory, access: { remote, credential, certificateFile }, git, signal });
}

async function readCredential(
  credentials: Pick<CredentialDirectory, 'read'>,
  directory: string,
  { credential: name }: Pick<Project, 'credential'>,
  remote: Remote,
): Promise<RemoteCredential> {
  if (name === undefined) return { kind: 'none' };
  const credential = await credentials.read(name, remoteHost(remote));
  switch (credential.kind) {
    case 'token': {
      const { token, username } = credential;
      return username === undefined ? { kind: 'token', token } : { kind: 'token', token, username };
    }
    case 'ssh':
      return { kind: 'ssh-key', keyFile: credential.keyFile, knownHostsFile: join(directory, 'known_hosts') };
  }
}
