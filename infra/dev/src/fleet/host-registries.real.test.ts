import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Dockerode from 'dockerode';
import { expect, onTestFinished, test } from 'vitest';
import { runConfined } from '../doctor/run-confined.ts';
import { silentReport } from '../report.ts';
import { ensureSandboxImage } from '../sandbox-image.ts';
import { readHostRegistries } from './host-registries.ts';

test("the sandbox image's pip names its index and the host of its files", async () => {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-registries-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const docker = new Dockerode();
  const { image } = await ensureSandboxImage({ docker, report: silentReport });
  const asked: string[] = [];
  const askSandbox = async (script: string) => {
    asked.push(script);
    return (await runConfined(docker, { image, script, mounts: [] })).output;
  };
  const nothing = { PATH: home, HOME: home, PYTHONHOME: home, PIP_CONFIG_FILE: '/dev/null' };
  const { pip, pipFilesHost } = await readHostRegistries(nothing, askSandbox);
  expect(asked).toHaveLength(1);
  expect(pip).toMatch(/^https:\/\/[^/]+\/simple\/?$/);
  expect(pipFilesHost).toMatch(/^[a-z.-]+$/);
}, 600_000);
