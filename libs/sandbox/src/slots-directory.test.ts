import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSlotsDirectory } from './slots-directory.ts';

let directory: string;

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'flotilla-slots-'));
});
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }));

test('all that open a new directory at once have it', async () => {
  for (let round = 0; round < 60; round += 1) {
    const place = path.join(directory, String(round));
    await Promise.all(Array.from({ length: 24 }, () => openSlotsDirectory(place, 'mine')));
    expect(fs.readdirSync(place).toSorted()).toEqual(['.flotilla-slots', 'owners', 'slots']);
  }
});

test('of two installations that open a new directory at once one has it', async () => {
  for (let round = 0; round < 20; round += 1) {
    const place = path.join(directory, String(round));
    const opened = await Promise.allSettled(
      ['mine', 'other', 'mine', 'other'].map((installation) => openSlotsDirectory(place, installation)),
    );
    const refused = opened.filter((each) => each.status === 'rejected');
    expect(refused.map(({ reason }) => (reason as { readonly code?: string }).code)).toEqual([
      errors.slotDirectoryForeign.code,
      errors.slotDirectoryForeign.code,
    ]);
  }
});
