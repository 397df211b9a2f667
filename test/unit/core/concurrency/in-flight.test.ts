import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import {
  accountLimit,
  freeSlot,
  hostDigest,
  hostLimit,
  takeSlot,
  withinLimits,
} from '../../../../core/concurrency/in-flight.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { memory } from '../../fakes/fresh-table.ts';

const SIZE = { slots: 3, leaseSeconds: 15 };
const ofAccount = accountLimit('clips', 'acc_1', SIZE);
const SLOW = 'https://slow.example.com/hook';
const ofHost = hostLimit('clips', 'acc_1', SLOW, { ...SIZE, slots: 1 });
const clock = { now: () => NOW };
const fill = async (limit = ofAccount, now = NOW) => {
  const held = [];
  for (let slot = await takeSlot(limit, now); slot; slot = await takeSlot(limit, now)) held.push(slot);
  return held;
};

describe('slots that a clock ahead of time has taken', () => {
  test.each([30, 3_600, 60 * 86_400])('by %p s are free for a right clock', async (seconds) => {
    await fill(ofAccount, atSeconds(seconds));

    expect(await fill()).toHaveLength(3);
    expect(await fill()).toHaveLength(0);
  });

  test.each([
    [2, 0],
    [2.001, 3],
  ])('by %p s leave %i slots free: clocks differ by two seconds at most', async (seconds, free) => {
    await fill(ofAccount, atSeconds(seconds));

    expect(await fill()).toHaveLength(free);
  });

  test('leave no more of an hour’s allowance to a clock that is two seconds behind', async () => {
    const allowance = { earnedHour: undefined, most: () => 2, isFree: () => false, usedUp: 'used up' };
    const use = (seconds: number) =>
      withinLimits([{ ...ofAccount, allowance }], { now: () => atSeconds(seconds) }, async () => 'done');
    // The next hour has begun by the one clock.
    await use(3_600);
    await use(3_598);

    await expect(use(3_598)).rejects.toMatchObject({ code: 'rate_limited', message: 'used up' });
    await expect(use(3_600)).rejects.toMatchObject({ code: 'rate_limited' });
  });

  test.each([1, 24, 1_000])('by %p hours leave the allowance of this hour', async (hours) => {
    const refused = () => new Error('full');
    const allowed = {
      ...ofAccount,
      allowance: { earnedHour: undefined, most: () => 2, isFree: () => false, usedUp: 'used up' },
    };
    const use = async (now: Date) =>
      withinLimits([allowed], { now: () => now }, async () => undefined).catch(refused);
    for (let count = 0; count < 3; count++) await use(atSeconds(hours * 3_600));

    expect([await use(NOW), await use(NOW)]).toEqual([{ result: undefined }, { result: undefined }]);
    expect(await use(NOW)).toEqual(refused());
  });
});

describe('the slots of a limit', () => {
  test('are as many as it says', async () => {
    expect(await fill()).toHaveLength(3);
  });

  test('are never held by more than it says at once, however many take them at once', async () => {
    const taken = await Promise.all(Array.from({ length: 20 }, () => takeSlot(ofAccount, NOW)));
    const held = taken.filter((slot) => slot !== undefined);

    expect(new Set(held.map(({ attribute }) => attribute)).size).toBe(held.length);
    expect(held.length + (await fill()).length).toBe(3);
  });

  test('count as full when others take the slot that was found free, ten times', async () => {
    const refused = { message: 'The conditional request failed', $metadata: {}, Item: {} };
    memory.client.on(UpdateCommand).rejects(new ConditionalCheckFailedException(refused));

    expect(await takeSlot(ofAccount, NOW)).toBeUndefined();
    expect(memory.client.commandCalls(UpdateCommand)).toHaveLength(10);
  });

  test('of another kind, account or host are others', async () => {
    await fill();

    expect(await fill(accountLimit('filter', 'acc_1', SIZE))).toHaveLength(3);
    expect(await fill(accountLimit('clips', 'acc_2', SIZE))).toHaveLength(3);
    expect(await fill(ofHost)).toHaveLength(1);
    expect(await fill(hostLimit('clips', 'acc_2', SLOW, SIZE))).toHaveLength(3);
    expect(await fill(hostLimit('clips', 'acc_1', 'https://fast.example.com/', SIZE))).toHaveLength(3);
  });

  test('are free again once freed, and freeing twice changes nothing', async () => {
    const [first] = await fill();
    if (!first) throw new Error('No slot was taken.');
    await freeSlot(first);
    await freeSlot(first);

    expect(await fill()).toHaveLength(1);
  });

  test('of a holder that died are free when its lease ends, and not before', async () => {
    await fill();

    expect(await fill(ofAccount, atSeconds(14.999))).toHaveLength(0);
    expect(await fill(ofAccount, atSeconds(15))).toHaveLength(3);
    // The table has not removed the item, which is past its time by days.
    expect(await fill(ofAccount, atSeconds(300_000))).toHaveLength(3);
  });

  test('are not freed by a holder whose lease has ended and whose slot another has taken', async () => {
    const [late] = await fill();
    if (!late) throw new Error('No slot was taken.');
    await fill(ofAccount, atSeconds(15));
    await freeSlot(late);

    expect(await fill(ofAccount, atSeconds(16))).toHaveLength(0);
  });

  test('are taken once by a call whose answer was lost and that the client repeats', async () => {
    const inputs: UpdateCommand['input'][] = [];
    memory.client.on(UpdateCommand).callsFake((input) => {
      inputs.push(input);
      memory.update(input);
      return memory.update(input);
    });
    expect(await takeSlot(ofAccount, NOW)).toBeDefined();

    expect(inputs).toHaveLength(1);
    const item = memory.get(ofAccount.key as { PK: string; SK: string });
    expect(Object.keys(item ?? {}).filter((name) => name.startsWith('slot'))).toHaveLength(1);
  });

  test('cost one call when there is one, and two when there is none', async () => {
    await takeSlot(ofAccount, NOW);
    expect(memory.calls().UpdateCommand).toBeLessThanOrEqual(2);
    await fill();
    memory.client.resetHistory();
    await takeSlot(ofAccount, NOW);

    expect(memory.calls()).toEqual({ UpdateCommand: 1 });
  });

  test('leave an item that the table removes a day after the last lease', async () => {
    await fill();

    expect(memory.get(ofAccount.key as { PK: string; SK: string })).toMatchObject({
      ttl: NOW.getTime() / 1000 + 15 + 86_400,
    });
  });
});

describe('work within limits', () => {
  test('holds a slot of every limit, and none afterwards', async () => {
    const { slots } = SIZE;
    const outcome = await withinLimits([ofAccount, ofHost], clock, async () => [
      (await fill()).length,
      (await fill(ofHost)).length,
    ]);

    expect(outcome).toEqual({ result: [slots - 1, 0] });
    expect(await fill(ofHost)).toHaveLength(1);
  });

  test('does not run when one is full, and then holds none of the others', async () => {
    await fill(ofHost);
    let ran = 0;
    const outcome = await withinLimits([ofAccount, ofHost], clock, async () => ++ran);

    expect([outcome, ran]).toEqual([undefined, 0]);
    expect(await fill()).toHaveLength(3);
  });

  test('that throws frees its places', async () => {
    await expect(
      withinLimits([ofAccount], clock, async () => {
        throw new Error('broken');
      }),
    ).rejects.toThrow('broken');
    expect(await fill()).toHaveLength(3);
  });

  test('is done even if its slot cannot be freed', async () => {
    let calls = 0;
    memory.beforeCall = () => {
      if (++calls > 1) throw new Error('no table');
    };

    expect(await withinLimits([ofAccount], clock, async () => 'done')).toEqual({ result: 'done' });
  });
});

describe('a host', () => {
  test.each([
    ['https://Example.com/a', 'https://example.com/b?c'],
    ['https://example.com./a', 'https://example.com/a'],
    ['https://example.com:443/', 'https://example.com/'],
    ['https://example.com.:8443/', 'https://example.com:8443/'],
    ['https://münchen.example/', 'https://xn--mnchen-3ya.example/'],
  ])('is the same in %s and %s', (one, other) => {
    expect(hostDigest(one)).toBe(hostDigest(other));
  });

  test('of another name or port is another', () => {
    expect(hostDigest('https://a.example/')).not.toBe(hostDigest('https://b.example/'));
    expect(hostDigest('https://a.example/')).not.toBe(hostDigest('https://a.example:8443/'));
  });
});
