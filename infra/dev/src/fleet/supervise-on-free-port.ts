import { errors } from '@flotilla/errors/catalogue';
import type { FlotillaError } from '@flotilla/errors/flotilla-error';
import { reportWhile } from '../report.ts';
import type { DescribedServices } from './describe-services.ts';
import { forgetHttpPort } from './describe-services.ts';
import type { FleetOptions } from './fleet-options.ts';
import { supervise, type Supervised } from './supervise.ts';

type Options = Pick<FleetOptions, 'dataDirectory' | 'report' | 'signal' | 'httpPort' | 'onGivenUp'>;

/** Whose port another program has. */
type TakenPort = 'gateway' | 'health';

type Start =
  { readonly kind: 'ready'; readonly supervised: Supervised } | { readonly kind: 'taken'; readonly port: TakenPort };

const attempts = 3;

/**
 * Starts the services and waits until they are ready. Where somebody took a port since it was chosen, the gateway's that nobody asked
 * for or one that a service tells its health on, they are started again as `describeAnew` says then, on others.
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
    const isExchanged = (error: FlotillaError): boolean => {
      const port = readTakenPort(error);
      return attempt < attempts && (port === 'health' || (port === 'gateway' && mayMove));
    };
    const start = await startOnce(options, services, isExchanged);
    if (start.kind === 'ready') return { url: services.url, supervised: start.supervised };
    if (start.port === 'gateway') await forgetHttpPort(dataDirectory);
    const taken = services.url;
    services = await describeAnew();
    report.warn(
      'services',
      start.port === 'gateway'
        ? `another program took ${taken} meanwhile; the gateway gets ${services.url}`
        : 'another program took a port of the services meanwhile; they are started again on others',
    );
  }
}

async function startOnce(
  { report, signal, onGivenUp }: Options,
  { list, url }: DescribedServices,
  isExchanged: (error: FlotillaError) => boolean,
): Promise<Start> {
  const taken = new AbortController();
  let port: TakenPort | undefined;
  let ready = false;
  const supervised = supervise({
    services: list,
    report,
    signal: AbortSignal.any([signal, taken.signal]),
    onGivenUp: (error) => {
      if (ready || !isExchanged(error)) return onGivenUp(error);
      port = readTakenPort(error);
      taken.abort(error);
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
    if (port !== undefined && !signal.aborted) return { kind: 'taken', port };
    throw error;
  }
}

function readTakenPort({ details }: FlotillaError): TakenPort | undefined {
  if (!/EADDRINUSE/.test(String(details['reason']))) return undefined;
  if (details['cause'] === errors.healthAddressUnusable.code) return 'health';
  return details['cause'] === errors.addressUnusable.code ? 'gateway' : undefined;
}
