import { InspectRemote } from '@flotilla/contracts/calls/inspect-remote';
import { serve, type ServedCall } from '@flotilla/stream/calls';
import type { RemoteInspector } from './git/remote-inspector.ts';

/** What is asked of the merger, which alone has the way to remotes and their credentials. */
export function createMergerCalls(inspector: RemoteInspector): readonly ServedCall[] {
  return [serve(InspectRemote, (input) => inspector.inspect(input))];
}
