import { type CustomTransportStrategy, Server } from '@nestjs/microservices';

export interface StagePorts {
  /** Begins to take messages and answer calls. */
  start(): Promise<void>;
  /** Takes nothing more and settles what is under way. */
  stop(): Promise<void>;
}

/** Lets Nest own start and graceful stop of the stage table. Stages need no decorators: Nest's own handler registry stays empty. */
export class StageTransport extends Server implements CustomTransportStrategy {
  readonly #ports: StagePorts;

  constructor(ports: StagePorts) {
    super();
    this.#ports = ports;
  }

  listen(callback: (error?: unknown) => void): void {
    this.#ports.start().then(
      () => callback(),
      (error: unknown) => callback(error),
    );
  }

  close(): Promise<void> {
    return this.#ports.stop();
  }

  on(): void {
    // No events: stages report to the host's observer.
  }

  unwrap<T>(): T {
    throw new Error('the stage transport wraps no client');
  }
}
