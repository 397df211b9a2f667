import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  beginCallbackQuery,
  claimCallbackQuery,
  claimQuery,
  findProviderWait,
  heldOffUntil,
  holdOffQueries,
  keepTaskToken,
  openWaitWrite,
  queriedWithin,
  recordQuery,
} from '../../../../core/provider-calls/provider-waits.ts';
import { providerWaitKey } from '../../../../core/table/keys.ts';
import { transact } from '../../../../core/table/transactions.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { VIDEO_ID } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

beforeEach(async () => {
  await transact(() => [openWaitWrite(VIDEO_ID, NOW.toISOString())]);
  memory.client.resetHistory();
});

const stored = () => memory.get(providerWaitKey(VIDEO_ID));
const at = (seconds: number): string => atSeconds(seconds).toISOString();
const entered = (seconds: number, retries = 0) => ({ enteredAt: at(seconds), retries });

describe('the wait of a request', () => {
  test('holds nothing before the first event, and is read consistently', async () => {
    expect(await findProviderWait(VIDEO_ID)).toEqual({ requestId: VIDEO_ID });
    expect(memory.client.commandCalls(GetCommand)[0]?.args[0].input).toStrictEqual({
      TableName: 'table',
      Key: { PK: `REQUEST#${VIDEO_ID}`, SK: 'WAIT' },
      ConsistentRead: true,
    });
  });

  test('is stored with the request for 100 days, as its provider attempts are', async () => {
    await keepTaskToken(VIDEO_ID, 'token-1', entered(0), NOW);

    expect(stored()).toEqual({
      PK: `REQUEST#${VIDEO_ID}`,
      SK: 'WAIT',
      requestId: VIDEO_ID,
      taskToken: 'token-1',
      tokenOrder: `${at(0)}#0000`,
      waitingSince: NOW.toISOString(),
      ttl: NOW.getTime() / 1000 + 100 * 86_400,
    });
  });

  test('is opened again by a further claim, and forgets nothing', async () => {
    const kept = await keepTaskToken(VIDEO_ID, 'token-1', entered(0), NOW);
    await transact(() => [openWaitWrite(VIDEO_ID, at(60))]);

    expect(await findProviderWait(VIDEO_ID)).toEqual(kept);
    expect(stored()).toMatchObject({ ttl: atSeconds(60).getTime() / 1000 + 100 * 86_400 });
  });

  test('that was never opened stays so: its queries are made and not recorded', async () => {
    memory.reset();

    expect(await keepTaskToken(VIDEO_ID, 'token-1', entered(0), NOW)).toEqual({ requestId: VIDEO_ID });
    expect(await recordQuery(VIDEO_ID, NOW, false)).toEqual({ requestId: VIDEO_ID });
    expect(await claimQuery(VIDEO_ID, 10, NOW)).toBeUndefined();
    expect(await findProviderWait(VIDEO_ID)).toBeUndefined();
  });

  test('collects events in any order, and every write returns the whole item', async () => {
    const recorded = {
      requestId: VIDEO_ID,
      calledBackAt: at(1),
      callbackQueryAt: at(1),
      callbackQueryIsPlanned: false,
    };
    expect(await claimCallbackQuery(VIDEO_ID, 2, atSeconds(1))).toEqual(recorded);
    await recordQuery(VIDEO_ID, atSeconds(2), false);
    const all = await keepTaskToken(VIDEO_ID, 'token-1', entered(3), atSeconds(3));

    expect(all).toEqual({
      ...recorded,
      queriedAt: at(2),
      taskToken: 'token-1',
      tokenOrder: `${at(3)}#0000`,
      waitingSince: at(3),
    });
    expect(await findProviderWait(VIDEO_ID)).toEqual(all);
  });

  test.each([
    ['a state that was entered later', entered(1), entered(0, 9)],
    ['the next attempt of a state', entered(0, 10), entered(0, 9)],
  ])('keeps the token of %s, whichever function is late', async (_, newer, older) => {
    const kept = await keepTaskToken(VIDEO_ID, 'newer', newer, NOW);

    expect(await keepTaskToken(VIDEO_ID, 'older', older, atSeconds(60))).toEqual(kept);
    expect(await findProviderWait(VIDEO_ID)).toMatchObject({ taskToken: 'newer', waitingSince: at(0) });
  });

  test('keeps a token again without a new wait, when the answer was lost or the function ran twice', async () => {
    const kept = await keepTaskToken(VIDEO_ID, 'token-1', entered(0), NOW);

    expect(await keepTaskToken(VIDEO_ID, 'token-1', entered(0), atSeconds(45))).toEqual(kept);
  });

  test('keeps the last token only', async () => {
    await keepTaskToken(VIDEO_ID, 'token-1', entered(0), NOW);
    await keepTaskToken(VIDEO_ID, 'token-2', entered(300), atSeconds(300));

    expect(await findProviderWait(VIDEO_ID)).toMatchObject({ taskToken: 'token-2', waitingSince: at(300) });
  });
});

describe('claiming the query of a callback', () => {
  const claim = async (seconds: number) =>
    (await claimCallbackQuery(VIDEO_ID, 2, atSeconds(seconds)))?.callbackQueryAt;

  test('is for now when no callback caused one lately, whatever else was queried', async () => {
    await recordQuery(VIDEO_ID, atSeconds(0), false);

    expect(await claim(0)).toBe(at(0));
    expect(await claim(2)).toBe(at(2));
    expect(await claim(9)).toBe(at(9));
  });

  test('is for the end of the interval within it, once: that query serves the callbacks until then', async () => {
    expect(await claim(0)).toBe(at(0));
    expect(await claim(0.1)).toBe(at(2));
    expect(await claim(0.2)).toBeUndefined();
    expect(await claim(1.999)).toBeUndefined();
    expect(await claim(2)).toBe(at(4));
  });

  test('is for the end of the interval again once that query has begun, by whatever clock', async () => {
    expect(await claim(5)).toBe(at(5));
    expect(await claim(5.1)).toBe(at(7));
    expect(await beginCallbackQuery(VIDEO_ID, at(7), atSeconds(7))).toMatchObject({ calledBackAt: at(5.1) });

    expect(await claim(4)).toBe(at(9));
    expect(await beginCallbackQuery(VIDEO_ID, at(7), atSeconds(7))).toBeUndefined();
  });

  test('is for now when a clock an hour ahead claimed the last one', async () => {
    await claim(3_600);

    expect(await claim(1)).toBe(at(1));
  });

  test.each([
    [62, 64],
    [62.001, 0],
  ])('after one for %p s later is for second %p: no clock is that far ahead', async (ahead, expected) => {
    await claim(ahead);

    expect(await claim(0)).toBe(at(expected));
  });

  test('is given to two of any number at once: for now and for the end of the interval', async () => {
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim(5)));

    expect(claims.filter((each) => each !== undefined).sort()).toEqual([at(5), at(7)]);
  });
});

describe('claiming a query', () => {
  test('succeeds the first time, and records the query', async () => {
    await keepTaskToken(VIDEO_ID, 'token-1', entered(0), NOW);

    expect(await claimQuery(VIDEO_ID, 10, atSeconds(1))).toMatchObject({
      taskToken: 'token-1',
      queriedAt: at(1),
    });
    expect(stored()).toMatchObject({ queriedAt: at(1) });
  });

  test.each([
    [9.999, false],
    [10, true],
    [600, true],
  ])('succeeds %p s after the last query: %p', async (seconds, given) => {
    await recordQuery(VIDEO_ID, NOW, false);

    expect((await claimQuery(VIDEO_ID, 10, atSeconds(seconds))) !== undefined).toBe(given);
    expect(stored()).toMatchObject({ queriedAt: at(given ? seconds : 0) });
  });

  test.each([
    [29.999, false],
    [30, true],
    [600, true],
  ])('is refused until the provider wants to be queried again: after %p s %p', async (seconds, given) => {
    await holdOffQueries(VIDEO_ID, at(30), NOW);

    expect((await claimQuery(VIDEO_ID, 10, atSeconds(seconds))) !== undefined).toBe(given);
    expect((await recordQuery(VIDEO_ID, atSeconds(seconds), false)) !== undefined).toBe(given);
    expect(await recordQuery(VIDEO_ID, atSeconds(seconds), true)).toMatchObject({ queriedAt: at(seconds) });
  });

  test('succeeds when a clock an hour ahead has set what would refuse it', async () => {
    const ahead = 3_600;
    await recordQuery(VIDEO_ID, atSeconds(ahead), false);
    await holdOffQueries(VIDEO_ID, at(ahead + 45), atSeconds(ahead));

    expect(queriedWithin(await findProviderWait(VIDEO_ID), 10, atSeconds(1))).toBe(false);
    expect(await recordQuery(VIDEO_ID, atSeconds(1), false)).toMatchObject({ queriedAt: at(1) });
    await recordQuery(VIDEO_ID, atSeconds(ahead), true);
    expect(await claimQuery(VIDEO_ID, 10, atSeconds(1))).toMatchObject({ queriedAt: at(1) });
  });

  test.each([
    [62, false],
    [62.001, true],
  ])('goes by what a clock has set for %p s later, or not: %p', async (ahead, given) => {
    const isGiven = (claimed: object | undefined): void => expect(claimed !== undefined).toBe(given);
    await recordQuery(VIDEO_ID, atSeconds(ahead), false);
    expect(queriedWithin(await findProviderWait(VIDEO_ID), 10, NOW)).toBe(!given);
    isGiven(await claimQuery(VIDEO_ID, 10, NOW));

    await recordQuery(VIDEO_ID, atSeconds(-100), true);
    await holdOffQueries(VIDEO_ID, at(ahead), NOW);
    expect(heldOffUntil(at(ahead), NOW)).toBe(given ? undefined : at(ahead));
    isGiven(await recordQuery(VIDEO_ID, NOW, false));
    await recordQuery(VIDEO_ID, atSeconds(-100), true);
    isGiven(await claimQuery(VIDEO_ID, 10, NOW));
  });

  test('succeeds for one of many at once', async () => {
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, index) => claimQuery(VIDEO_ID, 10, atSeconds(index / 10))),
    );

    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
  });
});

test.each([
  [undefined, 5, false],
  [{}, 5, false],
  [{ queriedAt: at(0) }, 9.999, true],
  [{ queriedAt: at(0) }, 10, false],
  [{ queriedAt: at(0), calledBackAt: at(9) }, 10, false],
  [{ queriedAt: at(0), notBefore: at(60) }, 59.999, true],
  [{ queriedAt: at(0), notBefore: at(60) }, 60, false],
])('for %j, %p s later, no query may be claimed within 10 s of the last: %p', (wait, seconds, expected) => {
  const known = wait && { requestId: VIDEO_ID, ...wait };

  expect(queriedWithin(known, 10, atSeconds(seconds))).toBe(expected);
});
