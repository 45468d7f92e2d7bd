import { ensureNode } from '@flotilla/host/ensure-node';

await ensureNode();
const { runService } = await import('@flotilla/host/run-service');
const { executorService } = await import('./executor.module.ts');
await runService(executorService);
