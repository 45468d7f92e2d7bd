import { expect, test } from 'vitest';
import { fsDelete } from './fs-delete.ts';
import { fsEdit } from './fs-edit.ts';
import { fsRead } from './fs-read.ts';
import { fsWrite } from './fs-write.ts';

const tools = [
  [fsRead, {}],
  [fsWrite, { content: 'x' }],
  [fsEdit, { find: 'a', replace: 'b' }],
  [fsDelete, {}],
] as const;

test.each(tools)('$id takes a file by one spelling of its argument, and no slash at its end', (tool, rest) => {
  expect(tool.prepare({ ...rest, path: 'src/a.ts' }).kind).toBe('ready');
  for (const given of [
    { path: 'src/a.ts/' },
    { path: 'src/a.ts/.' },
    { path: '' },
    { path: ['src/a.ts'] },
    { file: 'src/a.ts' },
    { path: 'src/a.ts', file_path: 'docs/a.md' },
    {},
  ])
    expect(tool.prepare({ ...rest, ...given }), JSON.stringify(given)).toMatchObject({ kind: 'invalid' });
});
