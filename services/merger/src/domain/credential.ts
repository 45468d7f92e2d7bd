import { z } from 'zod';

const host = z.string().min(1).max(255).describe('Host of the remote, without port; compared in lower case.');

/** What a file in the merger's credential directory holds. Strict, so that a misspelt field is not a silent absence. */
export const Credential = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('token'), host, token: z.string().min(1), username: z.string().min(1).optional() }),
  z.strictObject({ kind: z.literal('ssh'), host, keyFile: z.string().startsWith('/', 'an absolute path') }),
]);
export type Credential = z.infer<typeof Credential>;

/** A secret goes to the host that it names and to no other; a remote without a host (a path) gets none. */
export function isForHost(credential: Credential, remoteHost: string | undefined): boolean {
  return remoteHost !== undefined && credential.host.toLowerCase() === remoteHost.toLowerCase();
}

/** True where nobody but the file's owner may read or write it. */
export function isPrivateMode(mode: number): boolean {
  return (mode & 0o077) === 0;
}
