import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from '@flotilla/contracts/outcome';
import { createHostFixture, eventually, type HostFixture } from '@flotilla/host/host.fixture';
import type { ServiceDefinition } from '@flotilla/host/service-definition';
import { startService, type RunningService } from '@flotilla/host/start-service';
import { openBucket, type Bucket } from '@flotilla/stream/open-bucket';
import { ScratchRemote, type ScratchFiles } from '@flotilla/testing/scratch-remote';
import type { Script } from '@flotilla/testing/scripted-model/script';
import { startScriptedModel, type ScriptedModel } from '@flotilla/testing/scripted-model/start-scripted-model';
import { sandboxImage, slugify } from './workplace.fixture.ts';

export interface ServiceBench extends AsyncDisposable {
  readonly host: HostFixture;
  readonly model: ScriptedModel;
  readonly remote: ScratchRemote;
  readonly bucket: Bucket;
  readonly base: { readonly commit: ReturnType<ScratchRemote['head']>; readonly bundle: string };
  start(definition: ServiceDefinition): Promise<RunningService>;
  /** The outcome that a step was answered with; waits for it. */
  outcomeOf(step: { readonly runId: string; readonly stepId: string; readonly attempt: number }): Promise<Outcome>;
  /** Containers of this bench that exist now. */
  containers(): readonly string[];
}

/** Real servers, a model that follows a script and a repository whose base is stored: a service is started on it as it is shipped. */
export async function openServiceBench(script: Script, files: ScratchFiles = slugify): Promise<ServiceBench> {
  const data = mkdtempSync(join(tmpdir(), 'flotilla-service-'));
  const installation = `test-${randomBytes(6).toString('hex')}`;
  const remote = new ScratchRemote(files);
  const model = await startScriptedModel({ script });
  const host = await createHostFixture();
  const bucket = await openBucket(host.broker, 'changes');
  const commit = remote.head();
  await bucket.put(`base/${commit}`, remote.bundle(commit));
  const services: RunningService[] = [];
  const environment = {
    ...host.environment,
    FLOTILLA_DATA_DIRECTORY: data,
    FLOTILLA_INSTALLATION: installation,
    FLOTILLA_SANDBOX_IMAGE: sandboxImage(),
    FLOTILLA_MODEL: `compatible:scripted@${model.url}`,
    FLOTILLA_SLOTS: '1',
  };
  return {
    host,
    model,
    remote,
    bucket,
    base: { commit, bundle: `base/${commit}` },
    async start(definition) {
      const service = await startService(definition, { environment, output: host.output });
      services.push(service);
      return service;
    },
    async outcomeOf(step) {
      await eventually(`${step.stepId} is answered`, async () => (await host.answers(step)).length > 0);
      const [answer] = await host.answers(step);
      if (answer === undefined) throw new Error(`${step.stepId} has no answer`);
      return answer.outcome;
    },
    containers() {
      const filter = `label=flotilla.installation=${installation}`;
      const listed = execFileSync('docker', ['ps', '--all', '--quiet', '--filter', filter], { encoding: 'utf8' });
      return listed.split('\n').filter((line) => line !== '');
    },
    async [Symbol.asyncDispose]() {
      for (const service of services) await service.close();
      await host.close();
      await model.close();
      remote.remove();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
