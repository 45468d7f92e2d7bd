import { ensureNode } from '@flotilla/host/ensure-node';

await ensureNode();
const { runServices } = await import('@flotilla/host/run-service');
const { fleet } = await import('./fleet.ts');
await runServices(fleet);
