import '../../builders/environment.ts';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from '@jest/globals';
import { putWaiter } from '../../../../core/admission/waiters.ts';
import { dueListing, requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { toInstant } from '../../../../core/time.ts';
import { awaitCapacity } from '../../../../core/workflow/await-capacity.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { MemoryExecutions } from '../../fakes/memory-executions.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';
import { RouteUnderTest, withLimits } from '../admission/a-route.ts';

const memory = new MemoryTable(table);
const executions = new MemoryExecutions();
beforeEach(() => {
  memory.reset();
  executions.reset();
});

test('a request whose wait dies before the queue knows of it is looked at as soon as before: nobody would let it in', () =>
  withLimits({ maxRunning: 1 }, async () => {
    const route = new RouteUnderTest(memory, { maxRunning: 1 });
    const waiter = route.waiter('a1');
    const soon = dueListing('START', 'a1', toInstant(atSeconds(45)));
    memory.patch(requestKey('a1'), soon);
    memory.client.on(PutCommand).rejects(new Error('died'));
    const entry = { enteredAt: waiter.createdAt, retries: 0 };
    const place = { gate: route.gate.name, weight: 1, starts: 1, timeoutSeconds: 3_600 };
    await expect(awaitCapacity('a1', 'a1/0', entry, place, route.clock)).rejects.toThrow('died');

    expect(memory.get(requestKey('a1'))).toMatchObject(soon);
  }));

test('a wait at a gate that is not configured any more is dispatched, and leaves nothing of an earlier try in the queue', async () => {
  const route = new RouteUnderTest(memory, { maxRunning: 1 });
  const waiter = route.waiter('a1');
  // It died before it marked the gate.
  await putWaiter(route.gate.name, waiter, route.clock.now());
  executions.wait('a1/1');
  const entry = { enteredAt: waiter.createdAt, retries: 1 };
  const place = { gate: route.gate.name, weight: 1, starts: 1, timeoutSeconds: 3_600 };
  await awaitCapacity('a1', 'a1/1', entry, place, route.clock);

  expect(executions.woken.map(({ taskToken }) => taskToken)).toEqual(['a1/1']);
  expect(route.queue()).toEqual([]);
});
