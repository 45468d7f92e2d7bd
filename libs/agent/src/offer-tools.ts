import type { Grants, Mode } from '@flotilla/contracts/grants';
import { findCapability } from '@flotilla/policy/capabilities';
import type { Tool } from './define-tool.ts';
import { finishId } from './tools/finish.ts';

/** The tools worth telling a model of: granted by every document, and not refused whole by the mode. The gate still decides on each call. */
export function offerTools(tools: readonly Tool[], layers: readonly Grants[], mode: Mode): readonly Tool[] {
  return tools.filter(({ id, capability, mutates }) => {
    if (id === finishId) return true;
    const granted = layers.every((grants) => Object.hasOwn(grants, capability) && grants[capability] !== false);
    const changes = mutates || findCapability(capability)?.mutates === true;
    return granted && !(changes && mode === 'plan');
  });
}
