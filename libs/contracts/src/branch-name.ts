import { z } from 'zod';

const limitBytes = 240;

/** Why git refuses a branch of this name, without `refs/heads/`; undefined where it takes it: `git check-ref-format --branch` as a pure function. */
export function whyBranchRefused(name: string): string | undefined {
  if (name === '') return 'it is empty';
  if (new TextEncoder().encode(name).length > limitBytes) return `it has more than ${limitBytes} bytes`;
  if (name === 'HEAD') return 'HEAD is not a branch';
  if (name.startsWith('-')) return 'it starts with a hyphen';
  if (!name.isWellFormed()) return 'it is not well-formed text';
  if (/[\u0000-\u0020\u007f]/.test(name)) return 'it holds a space or a control character';
  if (/[~^:?*[\\]/.test(name)) return 'it holds one of ~ ^ : ? * [ \\';
  if (name.includes('..')) return 'it holds two dots in a row';
  if (name.includes('@{')) return 'it holds @{';
  if (name.endsWith('.')) return 'it ends in a dot';
  const components = name.split('/');
  if (components.some((component) => component === '')) return 'a part between slashes is empty';
  if (components.some((component) => component.startsWith('.'))) return 'a part starts with a dot';
  if (components.some((component) => component.endsWith('.lock'))) return 'a part ends in .lock';
  return undefined;
}

/** Where somebody names a branch: refused at once rather than by git, steps later. */
export const BranchName = z
  .string()
  .min(1, { abort: true })
  .max(limitBytes, { abort: true })
  .superRefine((name, context) => {
    const reason = whyBranchRefused(name);
    if (reason !== undefined) context.addIssue({ code: 'custom', message: `no name of a branch: ${reason}` });
  });
