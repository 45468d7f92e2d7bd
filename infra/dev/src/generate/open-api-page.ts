import { callCatalogue } from '@flotilla/contracts/call-catalogue';
import { describeOpenApi } from '@flotilla/contracts/calls/describe-open-api';
import { errors } from '@flotilla/errors/catalogue';
import type { Page } from './page.ts';

/** The document that the gateway serves, for tools that want a file. */
export function openApiPage(version: string): Page {
  const document = describeOpenApi(callCatalogue, Object.values(errors), version);
  return { path: 'infra/reference/openapi.json', content: `${JSON.stringify(document, undefined, 2)}\n` };
}
