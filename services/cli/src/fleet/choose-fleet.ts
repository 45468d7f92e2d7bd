import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { RegisteredFleet } from './fleets-file.ts';

export interface FleetFacts {
  /** `--url`, else FLOTILLA_URL. */
  readonly url: string | undefined;
  readonly running: readonly RegisteredFleet[];
  readonly workingDirectory: string;
  /** The clone or data directory that the working directory lies in; undefined outside of any. */
  readonly home: string | undefined;
  /** The clone that the command line itself lies in, which `npx --prefix CLONE` names; undefined where it lies in none. */
  readonly ownClone: string | undefined;
}

export interface ChosenFleet {
  readonly url: string;
  /** Set where the fleet runs on this machine. */
  readonly local?: RegisteredFleet;
}

/**
 * The fleet a command means: the one that was named, else the one of the clone or data directory that the command is run
 * in, else, outside of any, the one of the command line's own clone, else the only one that runs here. Throws FLEET_NOT_FOUND, FLEET_ELSEWHERE or FLEETS_SEVERAL.
 */
export function chooseFleet({ url, running, workingDirectory, home, ownClone }: FleetFacts): ChosenFleet {
  if (url !== undefined) {
    const local = running.find((fleet) => sameOrigin(fleet.url, url));
    return { url, ...(local === undefined ? {} : { local }) };
  }
  if (running.length === 0) throw new FlotillaError(errors.fleetNotFound);
  const meant = home ?? ownClone;
  const from = home === undefined && ownClone !== undefined ? ownClone : workingDirectory;
  const inside = running.filter((fleet) =>
    placesOf(fleet).some((place) => isInside(from, place) && (meant === undefined || isInside(place, meant))),
  );
  if (meant !== undefined && inside.length === 0)
    throw new FlotillaError(errors.fleetElsewhere, { home: meant, running: running.map(describeFleet).join(', ') });
  const [local, ...more] = inside.length === 0 ? running : inside;
  if (local === undefined || more.length > 0)
    throw new FlotillaError(errors.fleetsSeveral, { urls: running.map((each) => each.url).join(', ') });
  return { url: local.url, local };
}

/** Address and data directory, as a person tells fleets apart. */
export function describeFleet({ url, dataDirectory }: Pick<RegisteredFleet, 'url' | 'dataDirectory'>): string {
  return `${url} (data in ${dataDirectory})`;
}

function sameOrigin(left: string, right: string): boolean {
  return URL.canParse(left) && URL.canParse(right) && new URL(left).origin === new URL(right).origin;
}

/** Its data directory and the clone that it was started from, which keeps its data under `.data` unless told otherwise. */
function placesOf({ dataDirectory, clone }: RegisteredFleet): readonly string[] {
  const usual = /^(.+)\/\.data(\/.*)?$/.exec(dataDirectory)?.[1];
  return [dataDirectory, ...(clone === undefined ? [] : [clone]), ...(usual === undefined ? [] : [usual])];
}

function isInside(directory: string, parent: string): boolean {
  return parent !== '' && (directory === parent || directory.startsWith(parent === '/' ? '/' : `${parent}/`));
}
