import { runOrLog } from '../observability.ts';
import type { Clock } from '../time.ts';
import { invokeLater } from './invoke-later.ts';
import { claimStart, findReconcilerRun, isAlive } from './reconciler-run.ts';

/** The input of a run that was not started by the schedule: it ends as soon as nothing is open. */
const RUN = { everySeconds: 60 };

/**
 * Starts the reconciler for a request that begins to wait, unless a run is alive. Call it once the wait is written. Never rejects: after
 * an error the next minute's run finds the request.
 */
export const startReconcilerIfDead = async (clock: Clock): Promise<void> => {
  await runOrLog({ message: 'the reconciler could not be started', level: 'warn' }, async () => {
    const run = await findReconcilerRun();
    const now = clock.now();
    if (!run || isAlive(run, now) || !(await claimStart(run, now))) return;
    await invokeLater(run.functionName, RUN);
  });
};
