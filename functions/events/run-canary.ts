import { countMetric, METRIC } from '../../core/observability.ts';
import { runCanary } from '../canary.ts';
import { eventHandler } from '../event-handler.ts';

/** Makes one image through the public API and reports how that went. A run out of time has failed. */
export const handler = eventHandler<void>(
  () => runCanary(),
  () => countMetric(METRIC.canarySucceeded, {}, 0),
);
