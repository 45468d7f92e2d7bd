import type { VerbOption } from './verb.ts';

/** Options that every verb takes. */
export const globalOptions: readonly VerbOption[] = [
  {
    flags: '--json',
    summary: 'print the result as JSON, and an error as a problem document (RFC 9457) on standard error',
  },
  {
    flags: '--url <url>',
    summary: 'address of the fleet; default FLOTILLA_URL, else that of the clone around, else the only one that runs',
  },
  {
    flags: '--fleet-token-file <file>',
    summary: 'file with the token of the fleet; default FLOTILLA_TOKEN, else that of the local fleet',
  },
];
