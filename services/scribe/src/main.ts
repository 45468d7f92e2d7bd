import { ensureNode } from '@flotilla/host/ensure-node';

await ensureNode();
const { runService } = await import('@flotilla/host/run-service');
const { scribeService } = await import('./scribe.module.ts');
await runService(scribeService);
