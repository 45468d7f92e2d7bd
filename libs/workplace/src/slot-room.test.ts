import { nothingSpent } from '@flotilla/contracts/allowance';
import type { StepRequest } from '@flotilla/host/step-request';
import type { StepContext, StepWork } from '@flotilla/host/step-work';
import { expect, test } from 'vitest';
import { SlotRoom } from './slot-room.ts';

const request = {} as StepRequest;
const context = {} as StepContext;

test('before it is opened a service takes nothing', () => {
  expect(new SlotRoom().roomFor('build')).toBe(0);
});

test('a slot that one stage works in is not promised to another', async () => {
  const room = new SlotRoom();
  room.open(2);
  const end = Promise.withResolvers<undefined>();
  const setup: StepWork<StepRequest> = {
    work: async () => {
      await end.promise;
      return { outcome: { kind: 'cancelled' }, spent: nothingSpent };
    },
  };
  const working = room.occupying('setup', setup).work(request, context);
  expect(room.roomFor('setup')).toBe(2);
  expect(room.roomFor('build')).toBe(1);
  end.resolve(undefined);
  await working;
  expect(room.roomFor('build')).toBe(2);
});

test('work that throws gives its slot back', async () => {
  const room = new SlotRoom();
  room.open(1);
  const broken: StepWork<StepRequest> = { work: () => Promise.reject(new Error('broken')) };
  await expect(room.occupying('setup', broken).work(request, context)).rejects.toThrow('broken');
  expect(room.roomFor('build')).toBe(1);
});
