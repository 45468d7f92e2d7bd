import { RememberStepRequested } from '@flotilla/contracts/messages/remember-step-requested';
import { publishMessage } from '@flotilla/stream/publish-message';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { openServiceBench } from '@flotilla/workplace/service.fixture';
import { expect, test } from 'vitest';
import { scribeService } from './scribe.module.ts';

test('a run that is to be remembered gets its summary, and its memory is in the inbox', async () => {
  await using bench = await openServiceBench(engineerScript({ edits: [] }));
  await bench.start(scribeService);
  const remember = RememberStepRequested.payload.parse(RememberStepRequested.example);
  await publishMessage(bench.host.broker, RememberStepRequested, remember);
  expect(await bench.outcomeOf(remember)).toMatchObject({ kind: 'done', result: { verb: 'remember', memories: 1 } });
  const inbox = await bench.host.store.query<{ state: string }>('select state from scribe.memory_inbox');
  expect(inbox).toEqual([{ state: 'proposed' }]);
  const types = await bench.host.entries(remember.runId, remember.stepId);
  expect(types.slice(-2)).toEqual(['summary.written', 'memory.proposed']);
});
