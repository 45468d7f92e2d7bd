import { ListDead } from '@flotilla/contracts/calls/list-dead';
import { ListRuns } from '@flotilla/contracts/calls/list-runs';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { ApiClient } from '../client/api-client.ts';
import type { CheckResult } from '../text/render-checks.ts';

/** Whether the fleet answers, has what it needs, and its router is there. Throws only when the person stopped it. */
export async function checkFleet(api: ApiClient): Promise<readonly CheckResult[]> {
  const answers = await attempt('fleet.answers', 'fleet', async () => {
    await api.call(ListRuns, { limit: 1 });
    return `answers at ${api.url} and takes the token`;
  });
  if (!answers.ok && answers.code === errors.fleetUnreachable.code) return [answers.result];
  const others = await Promise.all([
    attempt('fleet.ready', 'fleet ready', async () => {
      const needs = Object.entries(await api.ready());
      const missing = needs.filter(([, answered]) => !answered).map(([name]) => name);
      if (missing.length > 0)
        throw new FlotillaError(errors.fleetNotReady, { url: api.url, missing: missing.join(', ') });
      return `reaches ${needs.map(([name]) => name).join(', ')}`;
    }),
    attempt('fleet.router', 'fleet router', async () => {
      try {
        await api.call(ListDead, { limit: 1 });
        return 'takes commands';
      } catch (error) {
        if (error instanceof FlotillaError && error.code === errors.roleMissing.code)
          return 'not asked, since the token may not';
        throw error;
      }
    }),
  ]);
  return [answers, ...others].map(({ result }) => result);
}

interface Attempt {
  readonly ok: boolean;
  readonly result: CheckResult;
  readonly code?: string;
}

async function attempt(id: string, title: string, work: () => Promise<string>): Promise<Attempt> {
  try {
    return { ok: true, result: { id, title, ok: true, detail: await work() } };
  } catch (error) {
    if (!(error instanceof FlotillaError)) throw error;
    return { ok: false, result: failedCheck(id, title, error), code: error.code };
  }
}

/** An error as a check that failed for it. */
export function failedCheck(id: string, title: string, { code, message, advice }: FlotillaError): CheckResult {
  return { id, title, ok: false, detail: `${code}: ${message}`, fix: advice };
}
