import type { AddressInfo } from 'node:net';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { FastifyInstance } from 'fastify';
import type { Logger } from './server-types.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly logger: Logger;
}

/** Listens while the service runs; the host calls its hooks. */
export class HttpServer {
  readonly #server: FastifyInstance;
  readonly #options: ListenOptions;
  #listening: Promise<void> | undefined;

  constructor(server: FastifyInstance, options: ListenOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** Address it listens on, for example http://127.0.0.1:7420. */
  get url(): string {
    // A server that listens on TCP has an address of this shape.
    const { address, port, family } = this.#server.server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Throws ADDRESS_UNUSABLE. Nest calls a hook of a microservice twice. */
  onApplicationBootstrap(): Promise<void> {
    return (this.#listening ??= this.#listen());
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#server.close();
  }

  async #listen(): Promise<void> {
    const { host, port, logger } = this.#options;
    try {
      await this.#server.listen({ host, port });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new FlotillaError(errors.addressUnusable, { host, port, reason }, { cause });
    }
    logger.info({ event: 'http_listening', url: this.url });
  }
}
