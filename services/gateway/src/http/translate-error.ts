import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { JSON_DEPTH } from '../domain/read-json.ts';
import { BODY_LIMIT_BYTES } from './body-limit.ts';

/** Anything that was thrown, as an error of the catalogue; what nobody foresaw is GATEWAY_FAILED with its cause kept. */
export function translateError(error: unknown, contentType: string | undefined, method: string): FlotillaError {
  if (error instanceof FlotillaError) return error;
  const options = { cause: error };
  switch (codeOf(error)) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new FlotillaError(errors.bodyTooLarge, { limit: BODY_LIMIT_BYTES }, options);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return new FlotillaError(errors.contentTypeRefused, { contentType: contentType ?? 'nothing' }, options);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new FlotillaError(
        errors.bodyUnreadable,
        { reason: 'its length is not what it said', depth: JSON_DEPTH },
        options,
      );
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
    case 'FST_ERR_ASYNC_CONSTRAINT':
      return new FlotillaError(errors.routeUnknown, { method, path: 'of that spelling' }, options);
    default:
      return new FlotillaError(errors.gatewayFailed, {}, options);
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
