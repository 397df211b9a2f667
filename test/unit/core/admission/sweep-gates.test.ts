import '../../builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { leaveGate } from '../../../../core/admission/admission.ts';
import { letIn } from '../../../../core/admission/let-in.ts';
import { sweepGates } from '../../../../core/admission/sweep-gates.ts';
import { gateKey, requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';
import { RouteUnderTest, withLimits } from './a-route.ts';

const memory = new MemoryTable(table);
beforeEach(() => memory.reset());

/** Runs with a route of these limits. */
const at = (
  limits: { maxRunning?: number; requestsPerSecond?: number },
  run: (route: RouteUnderTest) => Promise<void>,
) => withLimits(limits, () => run(new RouteUnderTest(memory, limits)));

describe('the sweep', () => {
  const sweep = (route: RouteUnderTest) => sweepGates(route.wake, () => true, route.clock);
  const end = (id: string) => memory.patch(requestKey(id), { status: 'failed' });

  test('gives back the permit of a request that ended, once its lease has run out', () =>
    at({ maxRunning: 2 }, async (route) => {
      await route.take('a1');
      await route.take('a2');
      await route.take('a3');
      await route.wait('b1');
      end('a1');
      memory.remove(requestKey('a2'));
      route.clock.advance(59);
      await sweep(route);
      expect(await route.holders()).toEqual(['a1', 'a2']);
      route.clock.advance(1);
      await sweep(route);

      expect(await route.holders()).toEqual(['b1']);
      expect(route.woken).toEqual(['b1']);
    }));

  test('keeps the permit of a request that is unfinished, and looks again after five minutes', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      route.clock.advance(60);
      await sweep(route);
      end('a1');
      route.clock.advance(299);
      await sweep(route);
      expect(await route.holders()).toEqual(['a1']);
      route.clock.advance(1);
      await sweep(route);

      expect(await route.holders()).toEqual([]);
    }));

  test('wakes a request that was given a permit by one that died then', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      await route.wait('b1');
      const dying = async () => {
        throw new Error('died');
      };
      await expect(letIn(route.gate, { wake: dying, clock: route.clock })).resolves.toBe(false);
      await leaveGate(route.gate.name, route.waiter('a1'), dying, route.clock);
      expect(await route.holders()).toEqual(['b1']);
      await sweep(route);
      expect(route.woken).toEqual([]);
      route.clock.advance(60);
      await sweep(route);

      expect(route.woken).toEqual(['b1']);
      expect(route.queue()).toEqual(['ACCOUNT#b']);
    }));

  test('lets in who waits although there is room', () =>
    at({ maxRunning: 20 }, async (route) => {
      const dying = async () => {
        throw new Error('died');
      };
      memory.put(gateKey(route.gate.name), { used: 20, GSI1PK: 'GATES', GSI1SK: route.gate.name });
      for (let index = 0; index < 15; index++) await route.wait(`b${index + 10}`);
      memory.patch(gateKey(route.gate.name), { used: 0 });
      await letIn(route.gate, { wake: dying, clock: route.clock }).catch(() => undefined);
      await sweep(route);

      expect(route.woken).toHaveLength(14);
    }));

  test('wakes all who wait at a gate that is not configured any more', async () => {
    const route = new RouteUnderTest(memory, { maxRunning: 1 });
    await withLimits({ maxRunning: 1 }, async () => {
      await route.take('a1');
      for (const id of ['b1', 'b2', 'c1']) await route.wait(id);
    });
    await withLimits({}, () => sweep(route));

    expect(route.woken.sort()).toEqual(['b1', 'b2', 'c1']);
    expect(route.queue()).toEqual([]);
    expect(await route.state()).toMatchObject({ used: 1, queued: undefined });
  });

  test('has a request looked at whose execution is lost, when its gate is not configured any more', async () => {
    const route = new RouteUnderTest(memory, { maxRunning: 1 });
    await withLimits({ maxRunning: 1 }, async () => {
      await route.take('a1');
      for (const id of ['b1', 'c1']) await route.wait(id);
    });
    route.gone.add('b1/0');
    await withLimits({}, () => sweep(route));

    expect(route.woken).toEqual(['c1']);
    expect(memory.get(requestKey('b1'))).toMatchObject({ GSI1SK: route.clock.now().toISOString() });
    expect(memory.get(requestKey('c1'))).not.toMatchObject({ GSI1SK: route.clock.now().toISOString() });
  });

  test('goes on after a gate that cannot be read', () =>
    at({ maxRunning: 1 }, async (route) => {
      memory.put(gateKey('broken'), { used: 'many', GSI1PK: 'GATES', GSI1SK: 'broken' });
      await route.take('a1');
      end('a1');
      route.clock.advance(60);
      await sweep(route);

      expect(await route.holders()).toEqual([]);
    }));
});
