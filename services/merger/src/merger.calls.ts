import { InspectRemote } from '@flotilla/contracts/calls/inspect-remote';
import { SalvageRun } from '@flotilla/contracts/calls/salvage-run';
import { serve, type ServedCall } from '@flotilla/stream/calls';
import type { RemoteInspector } from './git/remote-inspector.ts';
import type { Salvager } from './git/salvager.ts';

/** What is asked of the merger, which alone has the way to remotes and their credentials, and knows what bundles are called. */
export function createMergerCalls(inspector: RemoteInspector, salvager: Salvager): readonly ServedCall[] {
  return [
    serve(InspectRemote, (input) => inspector.inspect(input)),
    serve(SalvageRun, (input) => salvager.salvage(input)),
  ];
}
