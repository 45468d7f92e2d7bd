import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest';
import { errors } from '@flotilla/errors/catalogue';
import type { DockerEngine } from './docker-engine.ts';
import { killTree } from './kill-tree.ts';
import { runCommand } from './run-command.ts';
import type { PoolFixture } from './sandbox.fixture.ts';
import { claim, now, openPool, until } from './sandbox.fixture.ts';
import type { Slot } from './slot.ts';

const mebibyte = 1024 ** 2;

let fixture: PoolFixture;
let slot: Slot;

beforeAll(async () => {
  fixture = await openPool({
    ready: 1,
    limits: { memoryBytes: 256 * mebibyte, processes: 128, workspaceBytes: 64 * mebibyte, fileBytes: 32 * mebibyte },
  });
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});
beforeEach(async () => {
  slot = await fixture.pool.claim(claim());
});
afterEach(async () => {
  await slot.destroy();
});

const shell = (command: string, options?: Parameters<Slot['run']>[1]) => slot.run({ shell: command }, options);
/** Processes of the sandbox user, seen by the next command: its own shells and nothing else. */
const processList = async () => (await shell('ps -o comm= -u $(id -u) | grep -vE "^(sh|bash|ps|grep)$"')).output.trim();

describe('a command', () => {
  test('answers with its exit code, both streams in order and whole characters', async () => {
    const seen: string[] = [];
    const result = await shell('printf "gr\\303"; sleep 0.2; printf "\\274\\303\\237e\\n"; echo oops >&2; exit 3', {
      onOutput: (text) => seen.push(text),
    });
    expect(result).toMatchObject({ exitCode: 3, output: 'grüße\noops\n', truncated: false, killedBy: undefined });
    expect(seen.join('')).toBe(result.output);
    expect(seen.join('')).not.toContain('\ufffd');
    const lines = Array.from({ length: 100 }, (_, n) => `out ${n + 1}\nerr ${n + 1}\n`).join('');
    expect((await shell('for n in $(seq 100); do echo out $n; echo err $n >&2; done')).output).toBe(lines);
    const { stdout, stderr } = await slot.collect({ shell: 'echo out; echo err >&2' });
    expect([Buffer.from(stdout).toString(), stderr]).toEqual(['out\n', 'err\n']);
  });

  test('reads what it is given and nothing when it is given nothing', async () => {
    expect((await shell('cat', { stdin: 'from the host\n' })).output).toBe('from the host\n');
    expect((await shell('cat; echo end')).output).toBe('end\n');
    expect((await shell('exit 4', { stdin: 'x'.repeat(5_000_000) })).exitCode).toBe(4);
  });

  test('runs in the directory it names, and not outside of the workspace', async () => {
    await slot.files.write('sub/x', '');
    await shell('ln -s /tmp out');
    expect((await shell('pwd', { cwd: 'sub' })).output).toBe('/workspace/sub\n');
    await expect(shell('pwd', { cwd: '..' })).rejects.toMatchObject({ code: errors.pathRefused.code });
    await expect(shell('pwd', { cwd: 'out' })).rejects.toMatchObject({ code: errors.pathRefused.code });
    await expect(shell('pwd', { cwd: 'none' })).rejects.toMatchObject({ code: errors.fileMissing.code });
    await expect(shell('pwd', { cwd: 'sub/x' })).rejects.toMatchObject({ code: errors.fileKindWrong.code });
  });

  test('is one word to the container, whatever is in it (C06)', async () => {
    const text = `'"\\$(touch /workspace/pwned)\`touch /workspace/pwned\`\n;&|`;
    expect((await slot.run({ argv: ['printf', '%s', text] })).output).toBe(text);
    expect((await shell('ls /workspace')).output).toBe('');
    expect((await shell(`: ${'x'.repeat(60_000)}; echo long`)).output).toBe('long\n');
  });

  test('of a program that is not there fails as a command, not as a fault', async () => {
    const result = await slot.run({ argv: ['no-such-program'] });
    expect(result.exitCode).toBe(127);
    expect(result.output).toContain('not found');
  });

  test('cannot pass its output off as the result (C11)', async () => {
    const forged = '\\001\\000\\000\\000\\000\\000\\000\\004fake{"exitCode":0}\\r\\033]52;c;eA==\\007\\233';
    const result = await shell(`printf '${forged}'; kill -9 $PPID; exit 0`);
    expect(result.output).toContain('{"exitCode":0}');
    const honest = await shell(`printf '${forged}'; exit 9`);
    expect(honest.exitCode).toBe(9);
    expect(await processList()).toBe('');
  });

  test('leaves no shell, environment, alias or git configuration to the next (C10)', async () => {
    const live = await shell(
      'export PATH=/workspace/bin:$PATH X=1; git config --global alias.st "!echo pwned"; git st; echo "echo pwned" > ~/.bashrc; chmod 000 ~; echo set',
    );
    expect(live.output).toBe('pwned\nset\n');
    const next = await shell('echo "$PATH:$X"; git st; ls -A ~; bash -ic true 2>/dev/null');
    expect(next.output).not.toContain('pwned');
    expect(next.output).toMatch(/^\/usr\/local\/sbin:[^\n]*\/bin:\n/);
  });
});

describe('whatever a command leaves behind is gone when it ends', () => {
  test.each([
    ['a background child', 'sleep 1000 & echo started'],
    ['a daemon in its own session', 'setsid sh -c "exec >/dev/null 2>&1 </dev/null; sleep 1000" & echo started'],
    [
      'a double fork that ignores signals',
      `python3 - <<'E'\nimport os,signal,time\nif os.fork()==0:\n  os.setsid()\n  if os.fork()==0:\n    [signal.signal(s,signal.SIG_IGN) for s in (1,2,15)]\n    os.closerange(0,20)\n    time.sleep(1000)\n  os._exit(0)\nprint('started',flush=True)\nE`,
    ],
    ['a child that outlives the killed wrapper', 'setsid sleep 1000 >/dev/null 2>&1 & echo started; kill -9 $PPID'],
  ])('%s', async (_, command) => {
    const result = await shell(command, { timeoutMs: 20_000 });
    expect(result.output).toContain('started');
    expect(result.killedBy).toBeUndefined();
    expect(await processList()).toBe('');
  });

  test('a command over its time, with children that ignore SIGTERM', async () => {
    const result = await shell(
      'trap "" TERM HUP INT; (setsid sh -c "trap \\"\\" TERM; while :; do sleep 1; done") & while :; do sleep 1; done',
      {
        timeoutMs: 700,
      },
    );
    expect(result).toMatchObject({ killedBy: 'timeout', timedOut: true, exitCode: 137 });
    expect(result.durationMs).toBeLessThan(5000);
    expect(await processList()).toBe('');
  });

  test('a command whose caller gave up', async () => {
    const abort = new AbortController();
    const running = shell('echo ready; sleep 1000', { signal: abort.signal, onOutput: () => abort.abort() });
    expect(await running).toMatchObject({ killedBy: 'abort', exitCode: 137, output: 'ready\n' });
    expect(await processList()).toBe('');
    expect(await shell('echo no', { signal: abort.signal })).toMatchObject({ killedBy: 'abort', output: '' });
  });

  test('a command whose caller cannot take its output, with the reason for the caller', async () => {
    const full = new Error('no space left');
    const refuse = () => {
      throw full;
    };
    await expect(shell('yes', { onOutput: refuse, timeoutMs: 20_000 })).rejects.toBe(full);
    expect(await processList()).toBe('');
    const printing = slot.collect({ shell: 'yes' }, { onStdout: refuse, timeoutMs: 20_000 });
    await expect(printing).rejects.toBe(full);
    expect(await processList()).toBe('');
  });

  test('a command that nothing can watch any more', async () => {
    const [found] = await fixture.engine.listContainers(`flotilla.slot=${slot.id}`);
    const account = `${slot.user.uid}:${slot.user.gid}`;
    const request = {
      argv: ['sleep', '1000'],
      user: account,
      directory: '/',
      environment: {},
      stdin: undefined,
      timeoutMs: 20_000,
      signal: undefined,
      onFrame: () => true,
      watch: () => Promise.reject(new Error('the disk cannot be looked at')),
    };
    const kill = async () => void (await killTree(fixture.engine, found!.id, account));
    expect(await runCommand(fixture.engine, found!.id, request, kill)).toMatchObject({ killedBy: 'disk' });
    expect(await processList()).toBe('');
  });

  test('a command whose caller gave up while it was being started', async () => {
    const abort = new AbortController();
    const engine: DockerEngine = {
      ...fixture.engine,
      async startExec(container, request) {
        const started = await fixture.engine.startExec(container, request);
        abort.abort();
        return started;
      },
    };
    await using late = await openPool({ engine });
    const own = await late.pool.claim(claim());
    const result = await own.run({ shell: 'exec sleep 1000' }, { signal: abort.signal, timeoutMs: 30_000 });
    expect(result).toMatchObject({ killedBy: 'abort', exitCode: 137 });
    expect(result.durationMs).toBeLessThan(15_000);
    expect((await own.run({ shell: 'ps -o comm= -u $(id -u) | grep sleep' })).output).toBe('');
  });

  test('a fork bomb, and the slot goes on', async () => {
    const result = await shell('bomb() { bomb | bomb & }; bomb; while :; do sleep 1; done', { timeoutMs: 2000 });
    expect(result.killedBy).toBe('timeout');
    expect(await processList()).toBe('');
    expect((await shell('echo alive')).output).toBe('alive\n');
  });

  test('a fork bomb of processes that hold on to their place', async () => {
    const bomb = `python3 -c "
import os,signal,time
[signal.signal(s,signal.SIG_IGN) for s in (1,2,15)]
while True:
  try:
    if os.fork()==0: os.setsid()
  except OSError: time.sleep(0.01)
"`;
    const result = await shell(bomb, { timeoutMs: 2000 });
    expect(result.killedBy).toBe('timeout');
    expect(await processList()).toBe('');
  });
});

describe('a command that takes too much is stopped, and the host is not', () => {
  test('a gigabyte of output', async () => {
    const before = process.memoryUsage().rss;
    const started = now();
    const result = await shell('echo begin; head -c 1000000000 /dev/zero | tr "\\0" x', { timeoutMs: 50_000 });
    expect(result).toMatchObject({ killedBy: 'output', truncated: true, exitCode: 137 });
    expect(result.output.startsWith('begin\nxxx')).toBe(true);
    expect(result.output).toMatch(/\n\[\.\.\. \d+ bytes left out \.\.\.\]\n/);
    expect(Buffer.byteLength(result.output)).toBeLessThan(4.1 * mebibyte);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * mebibyte);
    expect(now() - started).toBeLessThan(20_000);
    expect(await processList()).toBe('');
  });

  test('ten megabytes of output are only shortened', async () => {
    const result = await shell('seq 1 1500000; echo last line; exit 2');
    expect(result).toMatchObject({ exitCode: 2, killedBy: undefined, truncated: true });
    expect(result.output.startsWith('1\n2\n3\n')).toBe(true);
    expect(result.output.endsWith('\n1500000\nlast line\n')).toBe(true);
  });

  test('memory', async () => {
    const result = await shell('python3 -c "x = bytearray(800 * 1024 * 1024)"');
    expect(result).toMatchObject({ killedBy: 'memory', exitCode: 137 });
    expect((await shell('exit 137')).killedBy).toBeUndefined();
  });

  test('disk', async () => {
    const result = await shell('for n in $(seq 100); do head -c 10000000 /dev/zero > f$n; done; sleep 30');
    expect(result).toMatchObject({ killedBy: 'disk', exitCode: 137 });
    expect(result.reason).toContain('over its limit of 67108864 bytes');
    expect(await processList()).toBe('');
  });

  test('one file over the limit of a file', async () => {
    const result = await shell('head -c 300000000 /dev/zero > big; echo "code $?"; stat -c %s big');
    expect(result.output).toContain('33554432');
  });
});

describe('a slot reaches nothing', () => {
  test('no network of any kind (C02)', async () => {
    const probes = [
      'timeout 2 bash -c "exec 3<>/dev/tcp/203.0.113.80/443"',
      'timeout 2 bash -c "exec 3<>/dev/tcp/169.254.169.254/80"',
      'timeout 2 bash -c "exec 3<>/dev/tcp/172.17.0.1/22"',
      'timeout 2 getent hosts example.com',
      'timeout 2 getent hosts host.docker.internal',
      `timeout 2 python3 -c "import socket; socket.create_connection(('2606:4700::1111', 443), 2)"`,
      `timeout 2 python3 -c "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('203.0.113.1', 53))"`,
      `timeout 2 python3 -c "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"`,
      'test -S /var/run/docker.sock -o -S /run/docker.sock',
    ];
    const started = now();
    for (const probe of probes) {
      const result = await shell(`{ ${probe}; } >/dev/null 2>&1`);
      expect([probe, result.exitCode === 0]).toEqual([probe, false]);
    }
    expect(now() - started).toBeLessThan(2000 * probes.length);
    expect((await shell('ls /sys/class/net')).output.trim()).toBe('lo');
    expect((await shell('find / -xdev -type s 2>/dev/null')).output).toBe('');
  });

  test('no capability, no way to gain one, no writable system', async () => {
    const status = (await shell('grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status')).output;
    expect(status.match(/^Cap(Inh|Prm|Eff|Bnd|Amb):\t0{16}$/gm)).toHaveLength(5);
    expect(status).toMatch(/NoNewPrivs:\t1/);
    expect(status).toMatch(/Seccomp:\t2/);
    expect((await shell('touch /x /usr/x /etc/x /workspace/../x 2>/dev/null; echo $?')).output).toBe('1\n');
    expect((await shell('kill -9 1; kill -9 $(pgrep -u 0 sleep); echo $?', {})).output).toContain('1\n');
    expect((await shell('mount -t tmpfs x /tmp 2>/dev/null; echo $?')).output).not.toBe('0\n');
  });

  test('no secret of the host (C12)', async () => {
    const secret = 'canary-secret-93751';
    process.env.FLOTILLA_TEST_SECRET = secret;
    try {
      const control = await shell('env', { environment: { GIVEN: secret } });
      expect(control.output).toContain(secret);
      const everything = await shell(
        'env; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"; git config -l; ls -R /run /run/secrets 2>&1; cat /proc/self/mountinfo',
      );
      expect(everything.output).not.toContain(secret);
      const named = Object.entries(process.env).filter(
        ([name, value]) => /TOKEN|SECRET|KEY|PASSWORD/i.test(name) && (value ?? '').length > 6,
      );
      for (const [, value] of named) expect(everything.output).not.toContain(value);
      expect((await shell('cat /proc/1/environ')).exitCode).not.toBe(0);
    } finally {
      delete process.env.FLOTILLA_TEST_SECRET;
    }
  });
});

test('an action in quiet has the workspace for itself', async () => {
  const order: string[] = [];
  const running = shell('for n in 1 2 3 4 5; do echo x >> log; sleep 0.1; done').then(() => order.push('command'));
  const quiet = slot.whileQuiet(async () => {
    order.push('quiet');
    const before = await slot.files.read('log');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await slot.files.read('log')).text).toBe(before.text);
  });
  const after = shell('echo late >> log').then(() => order.push('after'));
  await Promise.all([running, quiet, after]);
  expect(order).toEqual(['command', 'quiet', 'after']);
});

test('destroying a slot ends what runs in it and leaves neither container nor directory', async () => {
  const own = await fixture.pool.claim(claim());
  const running = own.run({ shell: 'echo ready; sleep 1000' }, { onOutput: () => void own.destroy() });
  await expect(running.catch((error: unknown) => error)).resolves.toBeDefined();
  await own.destroy();
  await expect(own.run({ shell: 'true' })).rejects.toMatchObject({ code: errors.slotLost.code });
  const left = await fixture.engine.listContainers(`flotilla.slot=${own.id}`);
  expect(left).toEqual([]);
});

test('a container that is removed by another hand is a lost slot', async () => {
  const [found] = await fixture.engine.listContainers(`flotilla.slot=${slot.id}`);
  const running = shell('echo ready; sleep 1000', {
    onOutput: () => void fixture.engine.removeContainer(found!.id),
  });
  await expect(running).rejects.toMatchObject({ code: errors.slotLost.code, remedy: 'retry' });
  await until(async () => !(await fixture.engine.isRunning(found!.id)));
  await expect(shell('true')).rejects.toMatchObject({ code: errors.slotLost.code });
});
