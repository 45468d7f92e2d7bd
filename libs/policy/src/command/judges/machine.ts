import type { Call } from '../call.ts';
import { readArguments } from '../read-arguments.ts';
import type { Form } from '../rule.ts';

const CHANGES_NETWORK =
  /^(add|del|delete|set|change|replace|append|flush|up|down|exec|attach|restore|save|mtu|netmask|broadcast|promisc)$/;

/** `ip`, `ifconfig`, `route`: showing is free, setting is administration. */
export function judgeNetworkShow(call: Call): void {
  const { operands } = call.arguments;
  const shows =
    call.name === 'ip' || call.name === 'bridge' || call.name === 'tc'
      ? !operands.some((operand) => CHANGES_NETWORK.test(operand.text))
      : operands.length < 2 && !call.words.some((word) => /^-[dsfi]$/.test(word.text));
  if (/^(ip|bridge|tc)$/.test(call.name) && call.words.some((word) => /^--?ba?t?c?h?$/.test(word.text)))
    call.runUnread('runs a list of commands that nobody read');
  if (!shows) call.add('PRIVILEGED', 'administers the network');
}

export function judgeSysctl(call: Call): void {
  if (call.words.some((word) => /^(-w|--write|-p|--load|--system|-f)/.test(word.text) || word.text.includes('=')))
    call.add('PRIVILEGED', 'sets parameters of the kernel');
}

const SHOWS_SERVICE =
  /^(status|show|list.*|print.*|is-.*|get.*|--status-all|blame|critical-chain|time|verify|cat|query|dump|tail|fg|version|security|calendar|timespan|help)$/;

/** Managers of services and clocks: asking is free. */
export function judgeService(call: Call): void {
  const words = call.words.map((word) => word.text).filter((word) => !word.startsWith('-') || word === '--status-all');
  if (words.length > 0 && !words.some((word) => SHOWS_SERVICE.test(word)))
    call.add('PRIVILEGED', 'controls services of the machine');
}

/** Package databases of the system: queries are free. */
export function judgePackageQuery(call: Call): void {
  const words = call.words.map((word) => word.text);
  const first = words.find((word) => !word.startsWith('-')) ?? '';
  const changes =
    call.name === 'dpkg'
      ? words.some((word) =>
          /^(-[irPaA]$|--(install|remove|purge|configure|unpack|triggers-only|set-selections|clear-selections|add-architecture|remove-architecture|update-avail|clear-avail|root|instdir|admindir|pre-invoke|post-invoke))/.test(
            word,
          ),
        )
      : call.name === 'rpm'
        ? !words.some((word) =>
            /^(-q|-V|-[a-zA-Z]*q|--query|--verify|--version|--eval|--showrc|-K|--checksig)/.test(word),
          ) || words.some((word) => /^--(import|pipe|eval)/.test(word))
        : call.name === 'apt-mark'
          ? !/^show/.test(first)
          : /^(apt-key|add-apt-repository|dpkg-reconfigure)$/.test(call.name);
  if (changes) call.add('PRIVILEGED', 'changes packages of the system');
  if (
    words.some((word) => /^(-x|-X|-e|--extract|--vextract|--control|--raw-extract|-R)$/.test(word)) &&
    call.name === 'dpkg'
  )
    call.add('MUTATING', 'unpacks files');
}

/** `crontab -l` lists; anything else changes what runs later. */
export function judgeCrontab(call: Call): void {
  const words = call.words.map((word) => word.text);
  if (words.includes('-l') && !words.includes('-r')) return;
  call.add('MUTATING', words.includes('-r') ? 'removes all jobs' : 'changes what runs later', words.includes('-r'));
}

const CONTAINER_OPTIONS: Form = {
  is: 'PRIVILEGED',
  valued:
    '-v -p -e -w -u -l -h -m -c -a --name --network --net --entrypoint --mount --volume --publish --env --env-file --workdir --user --label --hostname --memory --cpus --platform --restart --device --cap-add --cap-drop --security-opt --tmpfs --add-host --dns --gpus --ipc --pid --userns --volumes-from --cidfile --log-driver --log-opt --shm-size --ulimit --pull --expose --link --index',
};

/** The command of `docker run IMAGE …` and `docker exec CONTAINER …`. */
export function judgeContainerCommand(call: Call): void {
  const inner = readArguments(call.words, CONTAINER_OPTIONS, true).tail.slice(1);
  if (inner.length > 0) call.runWords(inner);
}

/** Secrets of a cluster are secrets. */
export function judgeKubectlGet(call: Call): void {
  if (
    call.arguments.operands.some((operand) => operand.text.split(',').some((each) => /^secrets?(\.|\/|$)/.test(each)))
  )
    call.add('MUTATING', 'shows secrets of the cluster');
}
