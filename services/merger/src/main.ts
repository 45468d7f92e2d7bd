import { ensureNode } from '@flotilla/host/ensure-node';

await ensureNode();
const { runService } = await import('@flotilla/host/run-service');
const { mergerService } = await import('./merger.module.ts');
await runService(mergerService);
