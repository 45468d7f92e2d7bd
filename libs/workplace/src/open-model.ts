import { randomInt } from 'node:crypto';
import type { Settings } from '@flotilla/contracts/settings';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { createModel, type ModelOptions } from '@flotilla/model/create-model';
import type { Model } from '@flotilla/model/model';
import { parseModelSettings } from '@flotilla/model/model-settings';

export type ModelSettings = Pick<Settings, 'model' | 'modelUrl' | 'modelKey' | 'openaiKey' | 'anthropicKey'>;

/**
 * The model that the settings name; undefined where they name none. Throws MODEL_SETTING_INVALID and MODEL_KEY_MISSING, with
 * which no service starts.
 */
export function openModel(
  settings: ModelSettings,
  ports: Pick<ModelOptions, 'clock' | 'random' | 'onCall'>,
): Model | undefined {
  if (settings.model === undefined) return undefined;
  const parsed = parseModelSettings({
    FLOTILLA_MODEL: settings.model,
    FLOTILLA_MODEL_URL: settings.modelUrl,
    FLOTILLA_MODEL_KEY: settings.modelKey,
    OPENAI_API_KEY: settings.openaiKey,
    ANTHROPIC_API_KEY: settings.anthropicKey,
  });
  return createModel({ ...parsed, ...ports });
}

/** Stands in where no model is configured: a step that needs one fails and says what to set. */
export function missingModel(): Model {
  return {
    name: 'none',
    spanAttributes: {},
    async *stream() {
      throw new FlotillaError(errors.modelNotConfigured);
    },
    close: async () => undefined,
  };
}

/** Time and chance as the model library wants them. */
export function modelPorts(now: () => number) {
  return {
    clock: {
      now,
      after(delayMs: number, callback: () => void) {
        const timer = setTimeout(callback, delayMs);
        return () => clearTimeout(timer);
      },
    },
    random: () => randomInt(1_000_000) / 1_000_000,
  };
}

/** Ends a model with the service that uses it. */
export class ModelLife {
  readonly #model: Pick<Model, 'close'> | undefined;

  constructor(model: Pick<Model, 'close'> | undefined) {
    this.#model = model;
  }

  /** Nest calls it when the stages have stopped. */
  async onApplicationShutdown(): Promise<void> {
    await this.#model?.close();
  }
}
