import { readdir, readFile } from 'node:fs/promises';

/** Stops a server and its children where they are, as if the way to it swallowed every packet. Gives how to let them go on. */
export async function standStill(pidFile: string): Promise<() => void> {
  const pid = Number(await readFile(pidFile, 'utf8'));
  const stopped = [pid];
  process.kill(pid, 'SIGSTOP');
  for (const entry of await readdir('/proc')) {
    const stat = /^\d+$/.test(entry) ? await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '') : '';
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    if (parent === pid) stopped.push(Number(entry));
  }
  for (const each of stopped) signal(each, 'SIGSTOP');
  return () => stopped.forEach((each) => signal(each, 'SIGCONT'));
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // A child of a server may have ended meanwhile.
  }
}
