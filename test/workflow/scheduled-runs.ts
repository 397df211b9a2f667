import type { ProviderRouteOf } from '../../core/provider-calls/providers.ts';
import { runReconciler } from '../../core/reconciler/loop.ts';
import { MemoryFunctions } from '../unit/fakes/memory-functions.ts';
import type { Surroundings } from './harness.ts';

const functions = new MemoryFunctions();
const LAST_SECOND = 7_200;

/** Runs the control loop beside an execution, in its virtual time: every minute from `first` on, and when a function starts it. */
export const scheduledRuns =
  (providerRouteOf: ProviderRouteOf, first = 0) =>
  ({ at }: Pick<Surroundings, 'at'>): void => {
    const start = (): void =>
      void runReconciler({
        ...{ providerRouteOf, everySeconds: 60, functionName: 'reconcile' },
        pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
      });
    functions.reset();
    functions.set('reconcile', async () => start());
    for (let second = first; second < LAST_SECOND; second += 60) at(second, start);
  };
