import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { RegisteredFleet } from './fleets-file.ts';

export interface FleetFacts {
  /** `--url`, else FLOTILLA_URL. */
  readonly url: string | undefined;
  readonly running: readonly RegisteredFleet[];
  readonly workingDirectory: string;
}

export interface ChosenFleet {
  readonly url: string;
  /** Set where the fleet runs on this machine. */
  readonly local?: RegisteredFleet;
}

/**
 * The fleet a command means: the one that was named, else the one that runs here; of several the one whose clone the
 * command is run in. Throws FLEET_NOT_FOUND or FLEETS_SEVERAL.
 */
export function chooseFleet({ url, running, workingDirectory }: FleetFacts): ChosenFleet {
  if (url !== undefined) {
    const local = running.find((fleet) => sameOrigin(fleet.url, url));
    return { url, ...(local === undefined ? {} : { local }) };
  }
  const [only] = running;
  if (only === undefined) throw new FlotillaError(errors.fleetNotFound);
  const inside = running.filter(({ dataDirectory }) => isInside(workingDirectory, cloneOf(dataDirectory)));
  const [here] = inside;
  const local = running.length === 1 ? only : inside.length === 1 ? here : undefined;
  if (local === undefined)
    throw new FlotillaError(errors.fleetsSeveral, { urls: running.map((each) => each.url).join(', ') });
  return { url: local.url, local };
}

function sameOrigin(left: string, right: string): boolean {
  return URL.canParse(left) && URL.canParse(right) && new URL(left).origin === new URL(right).origin;
}

/** A clone keeps its data under `.data`; of any other place its parent counts. */
function cloneOf(dataDirectory: string): string {
  return dataDirectory.replace(/\/\.data(\/.*)?$|\/[^/]+\/?$/, '');
}

function isInside(directory: string, parent: string): boolean {
  return parent !== '' && (directory === parent || directory.startsWith(`${parent}/`));
}
