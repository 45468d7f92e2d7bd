import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { startScriptedModel } from '@flotilla/testing/scripted-model/start-scripted-model';
import { libraryDefect } from './scratch-library.ts';

/** The language model of a demo. */
export interface DemoModel {
  /** Settings by variable. */
  readonly settings: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What a person is told about the model that `startDemoModel` starts. */
export function describeDemoModel(environment: Environment): string {
  const named = findNamedModel(environment);
  return named === undefined
    ? 'SCRIPTED: a server on loopback that speaks the OpenAI protocol and knows its lines; set FLOTILLA_MODEL and a key for a real one'
    : `${named}, a real model`;
}

/** The model that FLOTILLA_MODEL names, or where it names none a scripted one on loopback that knows the defect beforehand. */
export async function startDemoModel(environment: Environment): Promise<DemoModel> {
  if (findNamedModel(environment) !== undefined) return { settings: {}, close: async () => undefined };
  const scripted = await startScriptedModel({
    script: engineerScript({
      edits: [{ path: libraryDefect.path, find: libraryDefect.broken, replace: libraryDefect.sound }],
    }),
    chunkDelayMs: 15,
  });
  return {
    settings: { FLOTILLA_MODEL: `compatible:scripted@${scripted.url}` },
    close: () => scripted.close(),
  };
}

function findNamedModel(environment: Environment): string | undefined {
  return environment['FLOTILLA_MODEL'] || undefined;
}
