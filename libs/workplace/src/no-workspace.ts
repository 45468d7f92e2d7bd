import type { WorkspacePort } from '@flotilla/agent/ports';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

/** For an agent without a slot: whatever it asks for is not there. */
export function noWorkspace(): WorkspacePort {
  const refuse = (path: string): Promise<never> => Promise.reject(new FlotillaError(errors.fileMissing, { path }));
  return {
    resolve: async (path) => path,
    read: refuse,
    list: refuse,
    glob: async () => ({ items: [], truncated: false }),
    grep: async () => ({ items: [], truncated: false }),
    write: refuse,
    delete: refuse,
    run: () => Promise.reject(new FlotillaError(errors.commandRefused, { reason: 'this step has no sandbox' })),
  };
}
