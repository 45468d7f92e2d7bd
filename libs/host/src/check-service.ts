import { callCatalogue } from '@flotilla/contracts/call-catalogue';
import { catalogue } from '@flotilla/contracts/catalogue';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { ServedCall } from '@flotilla/stream/calls';
import type { Stage } from '@flotilla/stream/stage';
import type { ServiceDefinition } from './service-definition.ts';

type Named = Pick<ServiceDefinition, 'name'>;

/** Throws where the catalogue and the stage table disagree, with the file to edit: STAGE_MISSING, STAGE_FOREIGN. */
export function checkStages({ name }: Named, stages: readonly Stage[]): void {
  const taken = new Set(stages.map(({ contract }) => contract.subject));
  for (const { consumer, subject, name: message } of catalogue) {
    if (consumer === name && !taken.has(subject))
      throw new FlotillaError(errors.stageMissing, { service: name, message });
  }
  for (const { contract } of stages) {
    if (contract.consumer === name) continue;
    throw new FlotillaError(errors.stageForeign, {
      service: name,
      message: contract.name,
      consumer: contract.consumer,
    });
  }
}

/** Throws CALL_HANDLER_MISSING where a call that this service serves over the broker has no handler. */
export function checkCalls({ name }: Named, served: readonly ServedCall[]): void {
  const handled = new Set(served.map(({ call }) => call.name));
  for (const call of callCatalogue) {
    const overBroker = call.servedBy === name && call.servedBy !== 'gateway' && call.kind !== 'stream';
    if (overBroker && !handled.has(call.name))
      throw new FlotillaError(errors.callHandlerMissing, { service: name, call: call.name });
  }
}
