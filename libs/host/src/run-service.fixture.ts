import { ensureNode } from './ensure-node.ts';

await ensureNode();
const { runService } = await import('./run-service.ts');
const { plannerDefinition, planned } = await import('./host.fixture.ts');

/** A planner whose step of attempt 1 never ends by itself. */
await runService(
  plannerDefinition(({ attempt }, { signal }) =>
    attempt > 1
      ? Promise.resolve(planned)
      : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  ),
);
