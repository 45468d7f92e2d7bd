import fs from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectDocker } from '@flotilla/sandbox/docker-engine';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startReaper } from './slot-reaper.ts';

let root: string;
beforeEach(() => {
  root = fs.mkdtempSync(join(tmpdir(), 'flotilla-reaper-'));
});
afterEach(() => fs.rmSync(root, { recursive: true, force: true }));

function leaveSlot(directory: string): string {
  const slot = join(directory, 'slots/slot-left');
  fs.mkdirSync(join(slot, 'workspace'), { recursive: true });
  const claim = { run: 'run-1', step: 'build', attempt: 1 };
  fs.writeFileSync(join(slot, 'slot.json'), JSON.stringify({ owner: 'pool-before', claim }));
  return slot;
}

test('a service whose engine is away when it starts clears up after its predecessor soon after the engine is back', async () => {
  const socket = join(root, 'docker.sock');
  const engine = connectDocker(`unix://${socket}`);
  const directory = join(root, 'slots');
  const installation = 'test-reaper';
  const faults: unknown[] = [];
  const place = { engine, directory, installation };
  const noLease = { query: async () => [] };
  const reaper = startReaper({ ...place, store: noLease, onFault: (error) => faults.push(error) });
  await vi.waitFor(() => expect(faults).not.toEqual([]), { timeout: 60_000 });
  const slot = leaveSlot(directory);
  const relay = net.createServer((client) => {
    const daemon = net.connect('/var/run/docker.sock');
    for (const end of [client, daemon]) end.on('error', () => undefined);
    client.pipe(daemon).pipe(client);
  });
  relay.listen(socket);
  await vi.waitFor(() => expect(fs.existsSync(slot)).toBe(false), { timeout: 45_000 });
  await reaper.stop();
  relay.close();
});
