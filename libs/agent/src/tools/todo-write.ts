import { z } from 'zod';
import { defineTool } from '../define-tool.ts';

export const todoWrite = defineTool({
  id: 'todo.write',
  summary: 'Replaces your checklist, which people watch. Keep one item in progress.',
  parameters: z.strictObject({
    items: z
      .array(
        z.strictObject({
          text: z.string().min(1).max(300),
          status: z.enum(['pending', 'in_progress', 'completed', 'blocked']),
        }),
      )
      .max(40),
  }),
  mutates: false,
  paths: () => [],
  describe: (args) => `${args.items.length} items`,
  run: ({ items }) =>
    Promise.resolve({
      ok: true,
      todo: items,
      text:
        items.filter(({ status }) => status === 'in_progress').length > 1
          ? 'Kept. More than one item is in progress.'
          : 'Kept.',
    }),
});
