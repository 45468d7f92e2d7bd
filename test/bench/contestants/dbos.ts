import { DBOS } from '@dbos-inc/dbos-sdk';
import type { Contestant, ContestantSettings } from '../contestant.ts';

/** A DBOS workflow of six steps on the same Postgres, its telemetry off. */
export async function open({ databaseUrl }: ContestantSettings): Promise<Contestant> {
  const workflow = DBOS.registerWorkflow(
    async () => {
      for (let step = 0; step < 6; step += 1) await DBOS.runStep(async () => step, { name: `step${step}` });
    },
    { name: 'sixSteps' },
  );
  const url = new URL(databaseUrl);
  url.pathname = '/dbos_bench';
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url.href, runAdminServer: false, logLevel: 'error' });
  await DBOS.launch();
  return {
    runOnce: async () => {
      const handle = await DBOS.startWorkflow(workflow)();
      await handle.getResult();
    },
    close: () => DBOS.shutdown(),
  };
}
