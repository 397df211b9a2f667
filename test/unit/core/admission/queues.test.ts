import { expect, test } from '@jest/globals';
import { leaveQueue } from '../../../../core/admission/admission.ts';
import { putQueueEntry } from '../../../../core/admission/queue-entries.ts';
import { routeLimitOf } from '../../../../core/admission/route-limit-rules.ts';
import { findRouteLimit, listQueues } from '../../../../core/admission/route-limits.ts';
import { queueEntryKey } from '../../../../core/table/keys.ts';
import { at, NOW } from '../../builders/clocks.ts';
import { anImageRequest } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { memory } from '../../fakes/fresh-table.ts';

const [SHARED, OTHER, ALONE] = ['modelark/shared', 'fal/other', 'modelark/alone'] as const;
const route = (name: string, more = {}) => {
  const [provider, upstreamModel] = name.split('/');
  return { provider, upstreamModel, ...more };
};
/** Two models share a route, and the first has another one. */
const shared = {
  MODEL_ROUTES: JSON.stringify({
    xQI3Pro: [route(SHARED, { maxRunning: 2 }), route(OTHER)],
    'xSD4.5': route(SHARED, { maxRunning: 2 }),
    'xW3.0s': route(ALONE),
  }),
};

test('requests wait at a route that is limited or one of several, of whichever model', () =>
  withEnvironment(shared, () => {
    expect(listQueues()).toEqual([
      {
        limit: routeLimitOf(SHARED, { maxRunning: 2 }),
        models: ['xQI3Pro', 'xSD4.5'],
        others: [OTHER],
      },
      { limit: routeLimitOf(OTHER, {}), models: ['xQI3Pro'], others: [SHARED] },
    ]);
    expect(findRouteLimit(ALONE)).toBeUndefined();
  }));

test.each(['xQI3Pro', 'xSD4.5'])(
  'a request of %s leaves the queue of a route that two models share',
  (model) =>
    withEnvironment(shared, async () => {
      const assignment = { route: SHARED, number: 1 };
      const request = anImageRequest({ model, assignment });
      const entry = { ...request, taskToken: 't', tokenOrder: '1', weight: 1, starts: 1, createdAt: at(0) };
      await putQueueEntry(SHARED, entry, NOW);
      expect(memory.get(queueEntryKey(SHARED, entry))).toBeDefined();

      await leaveQueue(request);

      expect(memory.get(queueEntryKey(SHARED, entry))).toBeUndefined();
    }),
);
