import type Dockerode from 'dockerode';
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Activity } from '../report.ts';
import { followBuild } from './follow-build.ts';
import type { ImageContent } from './image-content.ts';

export interface BuildOptions {
  readonly docker: Dockerode;
  readonly content: ImageContent;
  readonly base: string;
  /** `none` where the base has every package, so that an engine without a bridge can build too. */
  readonly network: 'none' | 'default';
  readonly activity: Activity;
  readonly signal?: AbortSignal | undefined;
}

/** Builds `content.image` with the Dockerfile on `base`. */
export async function buildImage({ docker, content, base, network, activity, signal }: BuildOptions): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-image-'));
  try {
    activity.update('gathering node and npm');
    await layContext(content, directory);
    const context = spawn('tar', ['-C', directory, '-c', '.'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const progress = await docker.buildImage(context.stdout, {
      t: content.image,
      buildargs: { BASE: base },
      networkmode: network,
      rm: true,
      forcerm: true,
      labels: { 'flotilla.image': 'sandbox' },
      ...(signal && { abortSignal: signal }),
    });
    await followBuild(progress, ({ stream }) => {
      const step = /^Step (\d+\/\d+)/.exec(stream ?? '')?.[1];
      if (step !== undefined) activity.update(`building, step ${step}`);
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function layContext(content: ImageContent, directory: string): Promise<void> {
  const modules = join(directory, 'node', 'lib', 'node_modules');
  await mkdir(join(directory, 'node', 'bin'), { recursive: true });
  await mkdir(modules, { recursive: true });
  await cp(content.recipeDirectory, directory, { recursive: true });
  await cp(join(content.nodeDirectory, 'bin', 'node'), join(directory, 'node', 'bin', 'node'), { dereference: true });
  await cp(content.npmDirectory, join(modules, 'npm'), { recursive: true, dereference: true });
}
