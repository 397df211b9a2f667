import { expect, test } from '@jest/globals';
import { at } from './a-route.ts';

test('an account that was admitted in a tick comes after others with as many calls in the same tick', () =>
  at({ maxRunning: 3 }, async (route) => {
    for (const id of ['b1', 'x1', 'y1']) await route.take(id);
    for (const id of ['a1', 'a2', 'b2']) {
      await route.wait(id);
      route.clock.advance(1);
    }
    for (const id of ['x1', 'y1']) await route.leave(id);

    await route.tick();

    // `a` had waited for longest, and has a call by now, as `b` has.
    expect(route.woken).toEqual(['a1', 'b2']);
  }));
