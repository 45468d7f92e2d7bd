import type { StepContext } from '@flotilla/host/step-work';
import type { SlotPool } from '@flotilla/sandbox/slot-pool';
import type { StepOccasion } from '@flotilla/workplace/workplaces';
import { packageManagers, type ImageTools } from './detect-project-setup.ts';

/** Asks a slot of the image which package managers it has, once for each content of the image. */
export class SlotTools implements ImageTools {
  readonly #pool: Pick<SlotPool, 'claim'>;
  readonly #imageId: () => Promise<string>;
  readonly #known = new Map<string, ReadonlySet<string>>();

  constructor(pool: Pick<SlotPool, 'claim'>, imageId: () => Promise<string>) {
    this.#pool = pool;
    this.#imageId = imageId;
  }

  async list({ runId, stepId, attempt }: StepOccasion, { signal }: Pick<StepContext, 'signal'>) {
    const image = await this.#imageId();
    const known = this.#known.get(image);
    if (known !== undefined) return known;
    await using slot = await this.#pool.claim({ run: runId, step: stepId, attempt, signal });
    const question = packageManagers.map((name) => `command -v ${name} >/dev/null && echo ${name}`).join('; ');
    const { output } = await slot.run({ shell: `${question}; true` }, { signal });
    const found = new Set(output.split('\n').filter((name) => packageManagers.includes(name)));
    this.#known.set(image, found);
    return found;
  }
}
