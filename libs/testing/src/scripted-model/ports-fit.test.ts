import type { AgentPorts } from '@flotilla/agent/ports';
import type { SlotShape } from '@flotilla/agent/slot-workspace';
import type { Model } from '@flotilla/model/model';
import type { Slot } from '@flotilla/sandbox/slot';
import { expectTypeOf, test } from 'vitest';

test('a model of libs/model and a slot of libs/sandbox fit the ports of the agent as they are', () => {
  expectTypeOf<Model>().toExtend<AgentPorts['model']>();
  expectTypeOf<Slot>().toExtend<SlotShape>();
});
