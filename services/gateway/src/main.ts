import { ensureNode } from '@flotilla/host/ensure-node';

await ensureNode();
const { runService } = await import('@flotilla/host/run-service');
const { gatewayService } = await import('./gateway.module.ts');
await runService(gatewayService);
