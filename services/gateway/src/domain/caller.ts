import type { Principal } from '@flotilla/contracts/ids';
import type { Role } from '@flotilla/contracts/define-call';

/** Who makes a call, as the verified token says; nothing a client writes elsewhere counts. */
export interface Caller {
  readonly principal: Principal;
  readonly roles: readonly Role[];
}
