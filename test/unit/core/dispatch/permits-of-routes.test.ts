import { describe, expect, test } from '@jest/globals';
import { routeLimitKey } from '../../../../core/table/keys.ts';
import { ACCOUNT_ID, REQUEST_ID } from '../../builders/entities.ts';
import { memory } from './a-dispatch.ts';
import { FIRST, SECOND, THROTTLED, TwoRoutes } from './two-routes.ts';

describe('a request of a model with two routes', () => {
  test('needs no other permit when its dispatch runs again after its calls', async () => {
    const two = new TwoRoutes();
    two.configure(FIRST, { maxRunning: 1 });

    const steps = [await two.dispatch(), await two.dispatch()];

    expect(steps).toMatchObject([{ next: 'wait' }, { next: 'wait' }]);
    expect(two.called).toEqual([FIRST]);
    expect(memory.get(routeLimitKey(`${FIRST}`))).toMatchObject({ used: 1 });
  });

  test('waits at a full route and does not spill over', async () => {
    const two = new TwoRoutes();
    two.fill(FIRST);

    expect(await two.dispatch()).toMatchObject({
      next: 'queue',
      route: `${FIRST}`,
      routes: [FIRST, SECOND],
    });
    expect(two.called).toEqual([]);
  });

  test('calls a busy provider once a run while the other route is paused and full', async () => {
    const two = new TwoRoutes();
    two.fill(SECOND);
    two.answers[FIRST] = THROTTLED;
    await two.dispatch();
    two.clock.advance(121);
    two.pause(SECOND, { forSeconds: -1 });

    expect(await two.dispatch()).toMatchObject({ next: 'retry' });
    expect(two.called).toEqual([FIRST, FIRST]);
  });

  test('gives the permit back with which it was admitted at another route', async () => {
    const two = new TwoRoutes();
    two.configure(FIRST, { maxRunning: 2 });
    const afterItsWait = new Date(two.clock.now().getTime() + 3_600_000).toISOString();
    two.given({ GSI1PK: 'DUE#CHECK#0', GSI1SK: afterItsWait });
    const permit = { accountId: ACCOUNT_ID, weight: 1, takenMs: two.clock.now().getTime() };
    memory.put(routeLimitKey(`${FIRST}`), { used: 1, [`permit#${REQUEST_ID}`]: permit });
    two.pause(FIRST);

    await two.dispatch();

    expect(two.called).toEqual([SECOND]);
    expect(memory.get(routeLimitKey(`${FIRST}`))).toEqual(expect.objectContaining({ used: 0 }));
  });

  test('goes on at the route where it waited', async () => {
    const two = new TwoRoutes();
    two.given({ assignment: { route: SECOND, number: 2 } });

    await two.dispatch();

    expect(two.called).toEqual([SECOND]);
  });
});
