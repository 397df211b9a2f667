import { expect, test } from '@jest/globals';
import { leaveQueue } from '../../../../core/admission/admission.ts';
import { gateOf } from '../../../../core/admission/gate-rules.ts';
import { findGate, listQueues } from '../../../../core/admission/gates.ts';
import { putWaiter } from '../../../../core/admission/waiters.ts';
import { gateWaiterKey } from '../../../../core/table/keys.ts';
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
        gate: gateOf(SHARED, { maxRunning: 2 }),
        models: ['xQI3Pro', 'xSD4.5'],
        others: [OTHER],
      },
      { gate: gateOf(OTHER, {}), models: ['xQI3Pro'], others: [SHARED] },
    ]);
    expect(findGate(ALONE)).toBeUndefined();
  }));

test.each(['xQI3Pro', 'xSD4.5'])(
  'a request of %s leaves the queue of a route that two models share',
  (model) =>
    withEnvironment(shared, async () => {
      const assignment = { route: SHARED, number: 1, at: at(0) };
      const request = anImageRequest({ model, assignment });
      const waiter = { ...request, taskToken: 't', tokenOrder: '1', weight: 1, starts: 1, createdAt: at(0) };
      await putWaiter(SHARED, waiter, NOW);
      expect(memory.get(gateWaiterKey(SHARED, waiter))).toBeDefined();

      await leaveQueue(request);

      expect(memory.get(gateWaiterKey(SHARED, waiter))).toBeUndefined();
    }),
);
