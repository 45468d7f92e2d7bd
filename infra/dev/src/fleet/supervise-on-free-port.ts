import { errors } from '@flotilla/errors/catalogue';
import type { FlotillaError } from '@flotilla/errors/flotilla-error';
import { reportWhile } from '../report.ts';
import type { DescribedServices } from './describe-services.ts';
import { forgetHttpPort } from './describe-services.ts';
import type { FleetOptions } from './fleet-options.ts';
import { supervise, type Supervised } from './supervise.ts';

type Options = Pick<FleetOptions, 'dataDirectory' | 'report' | 'signal' | 'httpPort' | 'onGivenUp'>;

const attempts = 3;

/**
 * Starts the services and waits until they are ready. Where somebody took the gateway's port since it was chosen, and nobody asked
 * for that port, they are started again as `describeAnew` says then, on another one.
 */
export async function superviseOnFreePort(
  options: Options,
  first: DescribedServices,
  describeAnew: () => Promise<DescribedServices>,
): Promise<{ readonly url: string; readonly supervised: Supervised }> {
  const { report, httpPort, dataDirectory } = options;
  const mayMove = httpPort === undefined || httpPort === 0;
  let services = first;
  for (let attempt = 1; ; attempt += 1) {
    const start = await startOnce(options, services, mayMove && attempt < attempts);
    if (start.kind === 'ready') return { url: services.url, supervised: start.supervised };
    await forgetHttpPort(dataDirectory);
    const taken = services.url;
    services = await describeAnew();
    report.warn('services', `another program took ${taken} meanwhile; the gateway gets ${services.url}`);
  }
}

async function startOnce(
  { report, signal, onGivenUp }: Options,
  { list, url }: DescribedServices,
  mayMove: boolean,
): Promise<{ readonly kind: 'ready'; readonly supervised: Supervised } | { readonly kind: 'taken' }> {
  const taken = new AbortController();
  let ready = false;
  const supervised = supervise({
    services: list,
    report,
    signal: AbortSignal.any([signal, taken.signal]),
    onGivenUp: (error) => {
      if (mayMove && !ready && isPortTaken(error)) taken.abort(error);
      else onGivenUp(error);
    },
  });
  try {
    await reportWhile(
      report,
      'services',
      'starting',
      () => supervised.ready(),
      () => `ready at ${url}`,
      signal,
    );
    ready = true;
    return { kind: 'ready', supervised };
  } catch (error) {
    await supervised.stop();
    if (taken.signal.aborted && !signal.aborted) return { kind: 'taken' };
    throw error;
  }
}

function isPortTaken({ details }: FlotillaError): boolean {
  return details['cause'] === errors.addressUnusable.code && /EADDRINUSE/.test(String(details['reason']));
}
