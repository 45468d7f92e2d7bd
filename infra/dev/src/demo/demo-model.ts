import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { startScriptedModel } from '@flotilla/testing/scripted-model/start-scripted-model';
import { libraryDefect } from './scratch-library.ts';

/** The language model of a demo. */
export interface DemoModel {
  /** Settings by variable. */
  readonly settings: Readonly<Record<string, string>>;
  /** What a person is told about it. */
  readonly description: string;
  close(): Promise<void>;
}

/** The model that FLOTILLA_MODEL names, or where it names none a scripted one on loopback that knows the defect beforehand. */
export async function chooseDemoModel(environment: Readonly<Record<string, string | undefined>>): Promise<DemoModel> {
  const named = environment['FLOTILLA_MODEL'];
  if (named !== undefined && named !== '') {
    return { settings: {}, description: `${named}, a real model`, close: async () => undefined };
  }
  const scripted = await startScriptedModel({
    script: engineerScript({
      edits: [{ path: libraryDefect.path, find: libraryDefect.broken, replace: libraryDefect.sound }],
    }),
    chunkDelayMs: 15,
  });
  return {
    settings: { FLOTILLA_MODEL: `compatible:scripted@${scripted.url}` },
    description:
      'SCRIPTED: a server on loopback that speaks the OpenAI protocol and knows its lines; set FLOTILLA_MODEL and a key for a real one',
    close: () => scripted.close(),
  };
}
