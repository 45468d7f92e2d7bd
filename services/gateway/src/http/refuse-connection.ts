import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { PROBLEM_MEDIA_TYPE, problemOf } from '@flotilla/contracts/problem';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { responseHeaders } from './response-headers.ts';

/** Answers what never became a request as every other fault is answered, and hangs up. */
export function refuseConnection(fault: Error & { readonly code?: string }, socket: Socket): void {
  if (fault.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) return void socket.destroy();
  const error = translateFault(fault);
  const body = JSON.stringify(problemOf(error));
  const head = Object.entries({
    ...responseHeaders,
    'content-type': PROBLEM_MEDIA_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...head, '', body].join('\r\n'));
}

function translateFault(fault: Error & { readonly code?: string }): FlotillaError {
  switch (fault.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new FlotillaError(errors.headersTooLarge, {}, { cause: fault });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new FlotillaError(errors.requestTooSlow, {}, { cause: fault });
    default:
      return new FlotillaError(errors.requestUnreadable, {}, { cause: fault });
  }
}
