import type { Fleet } from '../fleet/start-fleet.ts';
import type { ReportEvent } from '../report.ts';

/** What a demo knows of the fleet that its keeper runs. */
export type KeptFleet = Pick<Fleet, 'url' | 'token' | 'tokenFile' | 'brokerUrl' | 'dataDirectory'>;

/** What a keeper tells the demo that started it. */
export type KeeperMessage =
  | { readonly kind: 'report'; readonly event: ReportEvent }
  | { readonly kind: 'ready'; readonly fleet: KeptFleet }
  /** For a person: what happened and what to do next. The keeper ends. */
  | { readonly kind: 'failed'; readonly text: string }
  /** It runs on by itself from now on. */
  | { readonly kind: 'stays' };

/** The one thing that a demo tells its keeper; a demo that is gone without it takes the fleet with it. */
export const stay = 'stay';
