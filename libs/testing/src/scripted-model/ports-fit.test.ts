import type { AgentPorts } from '@flotilla/agent/ports';
import type { Model } from '@flotilla/model/model';
import { expectTypeOf, test } from 'vitest';

test('a model of libs/model fits the port of the agent as it is', () => {
  expectTypeOf<Model>().toExtend<AgentPorts['model']>();
});
