import { expect, test } from 'vitest';
import { sandboxUserFor } from './sandbox-user.ts';

test('commands run as the service user, but never as root', () => {
  expect(sandboxUserFor({ uid: 1234, gid: 99 })).toEqual({ uid: 1234, gid: 99 });
  expect(sandboxUserFor({ uid: 0, gid: 0 })).toEqual({ uid: 1000, gid: 1000 });
});
