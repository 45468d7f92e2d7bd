import { executorService } from '@flotilla/executor/executor.module';
import { gatewayService } from '@flotilla/gateway/gateway.module';
import type { ServiceDefinition } from '@flotilla/host/service-definition';
import { mergerService } from '@flotilla/merger/merger.module';
import { plannerService } from '@flotilla/planner/planner.module';
import { reviewerService } from '@flotilla/reviewer/reviewer.module';
import { routerService } from '@flotilla/router/router.module';
import { scribeService } from '@flotilla/scribe/scribe.module';

/** Every service; the router comes first, since it makes the streams and the views that the others read. */
export const fleet: readonly ServiceDefinition[] = [
  routerService,
  plannerService,
  executorService,
  reviewerService,
  mergerService,
  scribeService,
  gatewayService,
];
