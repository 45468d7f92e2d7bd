import type { Grants, Mode } from '@flotilla/contracts/grants';
import { offersCapability } from '@flotilla/policy/decide-tool-call';
import type { Tool } from './define-tool.ts';
import { finishId } from './tools/finish.ts';

/** The tools worth telling a model of. The gate still decides on each call. */
export function offerTools(tools: readonly Tool[], layers: readonly Grants[], mode: Mode): readonly Tool[] {
  return tools.filter(
    ({ id, capability, mutates }) => id === finishId || offersCapability(capability, mutates, { grants: layers, mode }),
  );
}
