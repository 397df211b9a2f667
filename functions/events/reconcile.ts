import * as z from 'zod/mini';
import { checkFile } from '../../core/reconciler/check-file.ts';
import { runReconciler } from '../../core/reconciler/loop.ts';
import { surveyWork } from '../../core/reconciler/survey-work.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { eventHandler } from '../event-handler.ts';

/** The input of the schedule, and of a start by a function that begins a wait: the interval of the schedule, in seconds. */
const Scheduled = z.object({ everySeconds: z.number().check(z.positive()) });

/** Runs the control loop, reports how much work is open, and fetches a byte of a stored file. A run that exceeds its time logs and ends: the next one continues. */
export const handler = eventHandler<void>(
  async (event, { functionName }) => {
    const { everySeconds } = Scheduled.parse(event);
    await Promise.all([
      surveyWork(everySeconds),
      checkFile(everySeconds),
      runReconciler({ providerRouteOf, everySeconds, functionName }),
    ]);
  },
  () => undefined,
);
