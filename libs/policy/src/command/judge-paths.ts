import { HOLE } from './findings.ts';

/** A path without doubled slashes, `.` segments and the aliases that lead back to the root. */
export function normalisePath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.replace(/^\/proc\/(self|thread-self|\d+)\/(root|cwd)(?=\/)/, '').split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..' && segments.length > 0 && segments.at(-1) !== '..') segments.pop();
    else if (segment !== '..' || !path.startsWith('/')) segments.push(segment);
  }
  return `${path.startsWith('/') ? '/' : ''}${segments.join('/')}`;
}

const RAW_DEVICE =
  /^\/dev\/((sd|hd|vd|xvd)[a-z]|nvme\d|mmcblk\d|r?disk\d|loop\d|dm-\d|md\d|mapper\/|sr\d|nbd\d|mtd|ram\d|mem$|kmem$|port$|block\/|bus\/)/;
const MACHINE_SWITCH = /^\/(proc\/sysrq-trigger|sys\/(power|firmware|block)\/)/;

/** Why writing to a path destroys more than a file; undefined where it does not. */
export function whyDestroyed(path: string): string | undefined {
  const normal = normalisePath(path);
  if (RAW_DEVICE.test(normal)) return 'writes to a raw device';
  if (MACHINE_SWITCH.test(normal)) return 'writes to a switch of the machine';
  return undefined;
}

const NO_FILE = /^\/dev\/(null|zero|full|tty|stdin|stdout|stderr|fd\/\d+)$|^\/proc\/self\/fd\/\d+$/;

/** True for what is written without a file changing. */
export function isNoFile(path: string): boolean {
  return path === '-' || NO_FILE.test(normalisePath(path));
}

export function isSocketPath(path: string): boolean {
  return /^\/dev\/(tcp|udp)\//.test(path);
}

/** A target that `rm` must not be given, however gently: the root, a home, a whole system directory. */
export function isRootLike(path: string): boolean {
  if (/^~[\w-]*\/?(\*|\.\*|\.|\*\*)?\/?$/.test(path)) return true;
  if (!path.startsWith('/')) return false;
  const normal = normalisePath(path);
  return (
    /^\/(\*+|\.\*)?$/.test(normal) ||
    /^\/(bin|boot|dev|etc|home|lib\w*|media|mnt|opt|proc|root|run|sbin|srv|sys|usr|var)(\/\*+)?$/.test(normal)
  );
}

const SECRET_PATHS: readonly RegExp[] = [
  /(^|\/)\.ssh(\/(?!.*\.pub$)|$)/,
  /(^|\/)id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
  /(^|\/)\.(netrc|pgpass|pypirc|git-credentials|vault-token|my\.cnf|s3cfg|boto|terraformrc|htpasswd|dockercfg|envrc)$/,
  /^(~|\/|\.\.).*\/\.(npmrc|yarnrc\.yml|env)$/,
  /(^|\/)\.(aws|azure|gnupg|kube|oci|password-store)(\/|$)/,
  /(^|\/)\.docker\/config\.json$/,
  /(^|\/)\.config\/(gcloud|gh|glab-cli|rclone|hub|op|sops|doctl|heroku)(\/|$)/,
  /^(~|\/root|\/home\/[^/]+)?\/?\.config\/?\*?$/,
  /(^|\/)\.(bash|zsh|sh|python|node_repl|psql|mysql|redis_cli|sqlite|irb)?_?history$/,
  /(^|\/)\.env(\.(?!(example|sample|template|dist|defaults?|schema|md)$)[\w.-]+|\*|\.\*)?$/,
  /\.(pem|p12|pfx|jks|keystore|kdbx|ppk)$/,
  /(^|\/)[\w.-]*(private|secret|server|client|tls|ssl)[\w.-]*\.key$/,
  /(^|\/)(credentials?|secrets?)(\.(json|ya?ml|toml|ini|env|txt|enc))?$/,
  /(^|\/)service-?account[\w.-]*\.json$/,
  /(^|\/)(\.cargo\/credentials(\.toml)?|\.gem\/credentials|\.composer\/auth\.json|auth\.json|\.m2\/settings(-security)?\.xml|\.gradle\/gradle\.properties|\.terraform\.d\/credentials\.tfrc\.json)$/,
  /(^|\/)etc\/(shadow|gshadow|sudoers|ssh\/ssh_host|kubernetes\/admin|krb5\.keytab)/,
  /(^|\/)proc\/[^/]+\/(environ|mem|maps|auxv|cmdline\b.*environ)$/,
  /(^|\/)(var\/)?run\/secrets(\/|$)/,
  /^\/dev\/(mem|kmem|kcore)$|^\/proc\/kcore$/,
  /(^|\/)(Cookies|logins\.json|key4\.db|Login Data)$/,
];

/** True where a path holds credentials by its name; a hole in it stands for any one name. */
export function isSecretPath(path: string): boolean {
  if (path.length > 4096) return false;
  const normal = normalisePath(path.replaceAll(HOLE, 'x'));
  return RAW_DEVICE.test(normal) || SECRET_PATHS.some((pattern) => pattern.test(normal));
}

/** True for a variable whose name says that it holds a credential. */
export function isSecretVariable(name: string): boolean {
  return (
    /(^|_)(TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|PWD|APIKEY|CREDENTIALS?|PAT)(_|$)|(API|ACCESS|PRIVATE|SIGNING|ENCRYPTION|AUTH|SECRET|SSH|MODEL)_?KEY|(DATABASE|DB|REDIS|MONGO|POSTGRES|AMQP)_(URL|URI|DSN)$/i.test(
      name,
    ) && !/^(PWD|OLDPWD)$/.test(name)
  );
}
