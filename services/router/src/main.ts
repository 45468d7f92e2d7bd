import { ensureNode } from '@flotilla/host/ensure-node';

await ensureNode();
const { runService } = await import('@flotilla/host/run-service');
const { routerService } = await import('./router.module.ts');
await runService(routerService);
