import { ensureNode } from '@flotilla/host/ensure-node';

await ensureNode();
const { runService } = await import('@flotilla/host/run-service');
const { reviewerService } = await import('./reviewer.module.ts');
await runService(reviewerService);
