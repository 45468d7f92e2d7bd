import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError, type ErrorDefinition } from '@flotilla/errors/flotilla-error';
import { describeRemote, type Remote } from './remote.ts';

type Sign = readonly [pattern: RegExp, definition: ErrorDefinition];

/** First match wins. What git, curl, ssh and the large forges say in the C locale. */
const signs: readonly Sign[] = [
  [/detected dubious ownership/i, errors.remoteOwnedBySomeoneElse],
  [/No space left on device|Disk quota exceeded/i, errors.mirrorDiskFull],
  [/fsck error|fetch-pack: .*invalid index-pack output|object [0-9a-f]{40}: \w+: /i, errors.objectsRefused],
  [/returned error: 30\d|unable to update url base from redirection|redirect/i, errors.remoteRedirected],
  [
    /Authentication failed|could not read (Username|Password)|returned error: 40[13]|terminal prompts disabled/i,
    errors.remoteCredentialRefused,
  ],
  [/Host key verification failed|IDENTIFICATION HAS CHANGED/i, errors.remoteHostKeyChanged],
  [/Permission denied \(|UNPROTECTED PRIVATE KEY/i, errors.remoteCredentialRefused],
  [/HTTP Basic: Access denied|Load key .*: (invalid format|error in libcrypto)/i, errors.remoteCredentialRefused],
  [/Could not resolve|Temporary failure in name resolution|Name or service not known/i, errors.remoteUnreachable],
  [
    /Connection (refused|timed out|reset)|Failed to connect|Couldn't connect|Operation timed out|Operation too slow/i,
    errors.remoteUnreachable,
  ],
  [/Network is unreachable|No route to host/i, errors.remoteUnreachable],
  [
    /does not appear to be a git repository|not a git repository|repository .*not found|returned error: 404/i,
    errors.remoteNotFound,
  ],
  [
    /project you were looking for could not be found|does not exist|': No such file or directory/i,
    errors.remoteNotFound,
  ],
  [
    /SSL certificate problem|certificate verif|unable to get local issuer|certificate subject name/i,
    errors.remoteCertificateRefused,
  ],
  [
    /Empty reply|early EOF|unexpected disconnect|hung up unexpectedly|RPC failed|Connection closed/i,
    errors.remoteUnreachable,
  ],
  [
    /returned error: (429|5\d\d)|curl 18|curl 56|curl 92|transfer closed|TLS connection|gnutls_|SSL_|HTTP\/2 stream/i,
    errors.remoteUnreachable,
  ],
];

/** Turns what git said about a remote into one of our errors; what is not known counts as "cannot be cloned". */
export function judgeRemoteFailure(remote: Remote, complaint: string): FlotillaError {
  const definition = signs.find(([pattern]) => pattern.test(complaint))?.[1] ?? errors.remoteNotCloneable;
  const reason = firstLines(complaint) || 'git said nothing';
  return new FlotillaError(definition, { remote: describeRemote(remote), reason });
}

/** The lines that say why: git's own last, without progress and hints. */
function firstLines(complaint: string): string {
  const lines = complaint
    .split('\n')
    .filter(
      (line) => !/^(hint|warning: redirecting|Cloning|remote: (Counting|Compressing|Total|Enumerating))/.test(line),
    );
  return lines.slice(0, 6).join('; ').slice(0, 600);
}
