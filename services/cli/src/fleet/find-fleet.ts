import { readFile } from 'node:fs/promises';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { type ChosenFleet, chooseFleet } from './choose-fleet.ts';
import { findHome } from './find-home.ts';
import { fleetsFile, readFleets } from './fleets-file.ts';

export interface FleetOptions {
  readonly url?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Where the command line itself lies. Default: in no clone. */
  readonly programDirectory?: string | undefined;
}

export interface Fleet extends ChosenFleet {
  readonly token: string;
}

/** Address and token: flags, then FLOTILLA_URL and FLOTILLA_TOKEN, then the fleets that run on this machine. */
export async function findFleet(options: FleetOptions): Promise<Fleet> {
  const { url, tokenFile, environment, workingDirectory, programDirectory } = options;
  const named = url ?? textOf(environment['FLOTILLA_URL']);
  if (named !== undefined && !/^https?:$/.test(URL.canParse(named) ? new URL(named).protocol : '')) {
    throw new FlotillaError(errors.fleetAddressInvalid, { url: named });
  }
  const running = await readFleets(fleetsFile(environment));
  const home = await findHome(workingDirectory);
  const ownClone = programDirectory === undefined ? undefined : await findHome(programDirectory);
  const chosen = chooseFleet({ url: named, running, workingDirectory, home, ownClone });
  const fromEnvironment = textOf(environment['FLOTILLA_TOKEN']);
  if (tokenFile === undefined && fromEnvironment !== undefined) {
    if (isToken(fromEnvironment)) return { ...chosen, token: fromEnvironment };
    const reason = 'FLOTILLA_TOKEN holds a blank, a line end or another sign that no token has';
    throw new FlotillaError(errors.fleetTokenMissing, { url: chosen.url, reason });
  }
  const file = tokenFile ?? chosen.local?.tokenFile;
  if (file === undefined)
    throw new FlotillaError(errors.fleetTokenMissing, { url: chosen.url, reason: 'none was given' });
  return { ...chosen, token: await readToken(file, chosen.url) };
}

/** A token file holds the token alone, or the gateway's list of tokens, of which the first is taken. */
async function readToken(file: string, url: string): Promise<string> {
  try {
    const text = (await readFile(file, 'utf8')).trim();
    const token = text.startsWith('[') ? firstToken(JSON.parse(text)) : text;
    if (token !== undefined && isToken(token)) return token;
    throw new Error('it holds no token');
  } catch (cause) {
    const reason = `${file}: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new FlotillaError(errors.fleetTokenMissing, { url, reason }, { cause });
  }
}

/** What a header can carry. */
function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

function firstToken(list: unknown): string | undefined {
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  const token = typeof first === 'object' && first !== null && 'token' in first ? first.token : undefined;
  return typeof token === 'string' ? token : undefined;
}

function textOf(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}
