import { describe, expect, test } from '@jest/globals';
import { attempts } from './a-dispatch.ts';
import { FIRST, NO_ACCESS, SECOND, TwoRoutes } from './two-routes.ts';

describe('a request with a field that the model of a route is not sent', () => {
  test('goes to the next route that sends it, and says why', async () => {
    const two = new TwoRoutes();
    two.untaken[FIRST] = 'sequential';

    await two.dispatchOn();

    expect(two.called).toEqual([SECOND]);
    expect(attempts()[0]?.passedOver).toEqual([{ route: FIRST, why: 'its model takes no sequential' }]);
  });

  test('fails by the name of the field when no route sends it, and nothing is called', async () => {
    const two = new TwoRoutes();
    two.untaken[FIRST] = 'sequential';
    two.untaken[SECOND] = 'sequential';

    expect(await two.dispatchOn()).toMatchObject({
      next: 'fail',
      error: { code: 'provider_error', input: { reason: 'value', field: 'sequential' } },
    });
    expect(two.called).toEqual([]);
  });

  test('waits for the only route that sends it, while that is paused', async () => {
    const two = new TwoRoutes();
    two.untaken[SECOND] = 'n';
    await two.pause(FIRST);

    expect(await two.dispatchOn()).toMatchObject({ next: 'queue', route: FIRST });
    expect(two.called).toEqual([]);
  });

  test('waits with all its calls after they were refused, when no other route sends it', async () => {
    const two = new TwoRoutes();
    two.untaken[SECOND] = 'n';
    two.calls[FIRST] = 2;
    two.answers[FIRST] = NO_ACCESS;
    two.configure(FIRST, { maxRunning: 5 });

    expect(await two.dispatchOn()).toMatchObject({ next: 'queue', route: FIRST, weight: 2, starts: 2 });
  });

  test('fails so with one route, too', async () => {
    const two = new TwoRoutes();
    two.routes = two.routes.slice(0, 1);
    two.untaken[FIRST] = 'n';

    expect(await two.dispatchOn()).toMatchObject({ next: 'fail', error: { input: { field: 'n' } } });
    expect(two.called).toEqual([]);
  });

  test('keeps the calls that were made where another release sent less', async () => {
    const two = new TwoRoutes();
    await two.dispatchOn();
    two.untaken[FIRST] = 'sequential';

    expect(await two.dispatchOn()).toMatchObject({ next: 'wait' });
    expect(two.called).toEqual([FIRST]);
  });
});
