import type { DynamicModule, Type } from '@nestjs/common';
import type { ServiceName } from '@flotilla/contracts/services';
import type { Settings } from '@flotilla/contracts/settings';
import type { SqlMigration } from '@flotilla/store/migrate';
import type { Store } from '@flotilla/store/store';
import type { ServedCall } from '@flotilla/stream/calls';
import type { Broker } from '@flotilla/stream/connect-broker';
import type { Bucket } from '@flotilla/stream/open-bucket';
import type { Stage } from '@flotilla/stream/stage';
import type { EntitySchema } from '@mikro-orm/postgresql';
import type { Tracer } from '@opentelemetry/api';
import type { Logger } from './create-logger.ts';
import type { Ids } from './ids.ts';
import type { FleetMetrics } from './metrics.ts';
import type { Redact } from './redact-secrets.ts';

/** Everything of the world that a service's module builds from. */
export interface Resources {
  readonly service: ServiceName;
  /** Names this process; never used again after a restart. */
  readonly instance: string;
  readonly settings: Settings;
  readonly store: Store;
  /** Connected as the service's own user. */
  readonly broker: Broker;
  /** Opened at their first use; a service that may not use one is refused then. */
  readonly objects: { readonly changes: Bucket; readonly spills: Bucket };
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly metrics: FleetMetrics;
  readonly clock: () => Date;
  readonly ids: Ids;
  /** Takes the known secrets out of a text. */
  readonly redact: Redact;
  /** Aborted when the service begins to stop. */
  readonly signal: AbortSignal;
}

/** Reads a provider of the service's module. */
export type GetProvider = <T>(token: abstract new (...dependencies: never[]) => T) => T;

/** What a service is, read by the host. */
export interface ServiceDefinition {
  readonly name: ServiceName;
  /** Rows made with `stage` or `stepStage`; each names a class that the module provides. */
  readonly stages: readonly Stage[];
  /** Wiring; built once the resources are there. */
  readonly module: (resources: Resources) => DynamicModule | Type | Promise<DynamicModule>;
  /** The calls it answers over the broker, made with `serve`. Default: none. */
  readonly calls?: (get: GetProvider, resources: Resources) => readonly ServedCall[];
  /** What else it needs to be ready, for example the Docker engine. Default: nothing. */
  readonly checks?: (get: GetProvider) => Readonly<Record<string, () => Promise<boolean>>>;
  readonly migrations?: readonly SqlMigration[];
  readonly entities?: readonly EntitySchema[];
}
