import type { Mode } from '@flotilla/contracts/grants';

const modesFromFree: readonly Mode[] = ['auto', 'normal', 'plan'];

/**
 * The mode of a run: that of its session, made stricter by what is asked for and by the topology. Neither can raise it; one that
 * says nothing has no opinion. Only a call that changes the session's own mode raises it.
 */
export function effectiveMode(session: Mode, request?: Mode, document?: Mode | null): Mode {
  const said = [request, document].filter((mode) => mode !== undefined && mode !== null);
  return said.reduce(
    (held, next) => (modesFromFree.indexOf(next) > modesFromFree.indexOf(held) ? next : held),
    session,
  );
}
