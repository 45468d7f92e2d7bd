/** The attempt that a slot works for. */
export interface SlotClaim {
  readonly run: string;
  readonly step: string;
  readonly attempt: number;
}

export const installationLabel = 'flotilla.installation';
export const slotLabel = 'flotilla.slot';
export const ownerLabel = 'flotilla.owner';

/**
 * The labels of a slot's container. A ready slot has no claim yet, and labels cannot be added later: its claim stands in
 * the slot's record (slot-record.ts) and in the container's name.
 */
export function slotLabels(facts: {
  readonly installation: string;
  readonly owner: string;
  readonly slot: string;
  readonly claim: SlotClaim | undefined;
}): Readonly<Record<string, string>> {
  return {
    [installationLabel]: facts.installation,
    [ownerLabel]: facts.owner,
    [slotLabel]: facts.slot,
    ...(facts.claim && {
      'flotilla.run': facts.claim.run,
      'flotilla.step': facts.claim.step,
      'flotilla.attempt': String(facts.claim.attempt),
    }),
  };
}

/** A name that tells a person at `docker ps` whose container it is. The slot's id keeps it unique. */
export function containerName(slot: string, claim: SlotClaim | undefined): string {
  const words = claim ? [claim.run, claim.step, String(claim.attempt), slot] : ['ready', slot];
  return ['flotilla', ...words.map((word) => word.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 60))].join('.');
}
