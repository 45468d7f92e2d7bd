import { rm } from 'node:fs/promises';
import { ensureDockerEngine } from '../docker-engine.ts';
import { buildServices } from '../fleet/build-services.ts';
import type { Report } from '../report.ts';
import { ensureSandboxImage } from '../sandbox-image.ts';
import { bringUpServers } from '../servers.ts';

export interface TestMachineOptions {
  readonly dataDirectory: string;
  readonly report: Report;
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface TestMachine {
  /** What the tests run with. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  stop(): Promise<void>;
}

/** Servers, Docker engine, sandbox image and compiled services. Tests that must kill a server start private ones of the same programs. */
export async function ensureTestMachine(options: TestMachineOptions): Promise<TestMachine> {
  const serversUp = bringUpServers(options);
  const work = [serversUp, ensureImage(options), buildServices(options)] as const;
  try {
    const [servers, image] = await Promise.all(work);
    return {
      environment: { ...options.environment, DATABASE_URL: servers.postgres.url, FLOTILLA_SANDBOX_IMAGE: image },
      stop: async () => {
        await servers.stop();
        await rm(options.dataDirectory, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await Promise.allSettled(work);
    await (await serversUp.catch(() => undefined))?.stop();
    throw error;
  }
}

async function ensureImage(options: TestMachineOptions): Promise<string> {
  const { docker } = await ensureDockerEngine(options);
  return (await ensureSandboxImage({ ...options, docker })).image;
}
