import { ensureNode } from '@flotilla/host/ensure-node';

await ensureNode();
const { runService } = await import('@flotilla/host/run-service');
const { plannerService } = await import('./planner.module.ts');
await runService(plannerService);
