import { access } from 'node:fs/promises';

/** Whether systemd runs this machine. */
export async function hasSystemd(): Promise<boolean> {
  return access('/run/systemd/system').then(
    () => true,
    () => false,
  );
}
