import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { insertApiKey, type ParsedKey, revokeApiKey, SCOPES } from '../../../../core/accounts/api-keys.ts';
import { consumeApiKey } from '../../../../core/accounts/consume-api-key.ts';
import { UnauthorizedError } from '../../../../core/errors.ts';
import { apiKeyKey } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

const issue = async (limits = { requestsPerSecond: 50, burst: 100 }): Promise<ParsedKey> => {
  const { apiKey } = await insertApiKey(ACCOUNT_ID, { scopes: SCOPES, label: '', limits }, NOW);
  return apiKey;
};
/** A call that takes no time. */
const atOnce = (): number => 0;
const later = (milliseconds: number): Date => new Date(NOW.getTime() + milliseconds);
const isAccepted = async (key: ParsedKey, milliseconds: number): Promise<boolean> =>
  (await consumeApiKey(key, later(milliseconds), atOnce)).retryAfterSeconds === undefined;
/** Number of consecutive requests accepted at one instant. */
const burstAt = async (key: ParsedKey, milliseconds: number): Promise<number> => {
  let accepted = 0;
  while (await isAccepted(key, milliseconds)) accepted++;
  return accepted;
};
const updates = () => memory.client.commandCalls(UpdateCommand).map(({ args }) => args[0].input);

describe('a bucket that a clock ahead of time has filled', () => {
  const HOUR_MS = 3_600_000;

  test.each([HOUR_MS, 60 * 24 * HOUR_MS, 10_000])(
    'by %p ms is full at once for a right clock',
    async (aheadMs) => {
      const key = await issue();
      expect(await burstAt(key, aheadMs)).toBe(100);

      expect(await burstAt(key, 0)).toBe(100);
      expect(await isAccepted(key, 20)).toBe(true);
    },
  );

  test('is used up once, however many calls find it', async () => {
    const key = await issue({ requestsPerSecond: 1, burst: 5 });
    await isAccepted(key, HOUR_MS);

    const answers = await Promise.all(Array.from({ length: 20 }, () => isAccepted(key, 0)));

    expect(answers.filter((accepted) => accepted)).toHaveLength(5);
  });

  test('asks nobody to wait for longer than it takes to refill, by however little the clock was ahead', async () => {
    const key = await issue();
    for (const aheadMs of [100, 1_000, 1_900, 2_500, 5_000, HOUR_MS]) {
      await burstAt(key, aheadMs);
      const { retryAfterSeconds = 0 } = await consumeApiKey(key, NOW, atOnce);
      expect(retryAfterSeconds).toBeLessThanOrEqual(2);
    }
  });
});

describe('the rate limit of a key', () => {
  test('lets exactly 100 requests through at one instant, then one every 20 ms, 50 a second', async () => {
    const key = await issue();

    expect(await burstAt(key, 0)).toBe(100);
    expect(await isAccepted(key, 19)).toBe(false);
    expect(await burstAt(key, 20)).toBe(1);
    expect(await burstAt(key, 1020)).toBe(50);
    expect(await burstAt(key, 1039)).toBe(0);
    expect(await burstAt(key, 1040)).toBe(1);
  });

  test('is that of a token bucket, for any limits and arrivals', async () => {
    const limits = fc.record({
      requestsPerSecond: fc.constantFrom(1, 2, 5, 10, 50),
      burst: fc.integer({ min: 1, max: 6 }),
    });
    const arrivals = fc.array(fc.oneof(fc.constantFrom(0, 20, 100, 1000), fc.nat(1500)), { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(limits, arrivals, async ({ requestsPerSecond, burst }, gaps) => {
        memory.reset();
        const key = await issue({ requestsPerSecond, burst });
        const costMs = 1000 / requestsPerSecond;
        let levelMs = burst * costMs;
        let atMs = 0;
        for (const gapMs of gaps) {
          atMs += gapMs;
          levelMs = Math.min(burst * costMs, levelMs + gapMs);
          const isExpected = levelMs >= costMs;
          if (isExpected) levelMs -= costMs;

          expect(await isAccepted(key, atMs)).toBe(isExpected);
        }
      }),
    );
  });

  test.each([
    [50, 100, 0, 1],
    [50, 100, 19, 1],
    [1, 1, 0, 1],
    [1, 1, 999, 1],
    [0.2, 1, 0, 5],
    [0.2, 1, 999, 5],
    [0.2, 1, 1_000, 4],
    [0.2, 1, 4_999, 1],
  ])(
    'of %p a second with bursts of %p, used up, says %p ms later to come back after %p s',
    async (requestsPerSecond, burst, milliseconds, seconds) => {
      const key = await issue({ requestsPerSecond, burst });
      await burstAt(key, 0);

      expect((await consumeApiKey(key, later(milliseconds), atOnce)).retryAfterSeconds).toBe(seconds);
      expect(await isAccepted(key, milliseconds + seconds * 1000)).toBe(true);
    },
  );
});

describe('counting a request', () => {
  test('is one update, of a full bucket and of one in use', async () => {
    const key = await issue();
    for (const [call, at] of [5, 6].entries()) {
      await consumeApiKey(key, later(at));

      expect(updates()).toHaveLength(call + 1);
      expect(memory.get(apiKeyKey(key.keyId))).toMatchObject({
        lastUsedAt: later(at).toISOString(),
        tat: later(25 + 20 * call).getTime(),
        allowAt: later(5 - 1960 + 20 * call).getTime(),
      });
    }
  });

  test('returns the key as updated', async () => {
    const key = await issue();
    const { apiKey } = await consumeApiKey(key, later(7));

    expect(apiKey).toMatchObject({ ...key, lastUsedAt: later(7).toISOString(), tat: later(27).getTime() });
  });

  test('costs one more call after a wrong guess: another process had used the key', async () => {
    const key = await issue();
    memory.patch(apiKeyKey(key.keyId), { tat: later(40).getTime(), allowAt: later(-1900).getTime() });

    expect(await isAccepted(key, 0)).toBe(true);
    expect(updates()).toHaveLength(2);
    expect(memory.get(apiKeyKey(key.keyId))).toMatchObject({ tat: later(60).getTime() });

    expect(await isAccepted(key, 1)).toBe(true);
    expect(updates()).toHaveLength(3);
  });

  test('costs one more call when the bucket refilled unexpectedly', async () => {
    const key = await issue();
    await burstAt(key, 0);
    memory.patch(apiKeyKey(key.keyId), { tat: later(-1).getTime(), allowAt: later(-1981).getTime() });
    memory.client.resetHistory();

    expect(await isAccepted(key, 0)).toBe(true);
    expect(updates()).toHaveLength(2);
  });

  test.each([
    ['the last request of a burst', 1980, 0],
    ['the first one of a bucket that is full just now', 0, -1980],
  ])('lets %s through, even after a wrong guess', async (_, tatMs, allowAtMs) => {
    const key = await issue();
    memory.patch(apiKeyKey(key.keyId), {
      tat: later(tatMs).getTime(),
      allowAt: later(allowAtMs).getTime(),
    });

    expect(await isAccepted(key, 0)).toBe(true);
    expect(memory.get(apiKeyKey(key.keyId))).toMatchObject({
      tat: later(tatMs + 20).getTime(),
      allowAt: later(allowAtMs + 20).getTime(),
    });
  });

  test('is judged by the time that has passed when the call was slow to arrive', async () => {
    const key = await issue();
    await burstAt(key, 1_500);

    expect((await consumeApiKey(key, NOW, () => 100)).retryAfterSeconds).toBe(2);
    expect((await consumeApiKey(key, NOW, () => 1_520)).retryAfterSeconds).toBeUndefined();
  });

  test('costs one call each for keys used alternately', async () => {
    const [one, other] = [await issue(), await issue()];
    for (let count = 0; count < 5; count++) {
      await isAccepted(one, 0);
      await isAccepted(other, 0);
    }

    expect(updates()).toHaveLength(10);
  });

  test('remembers at most 10,000 keys: then it guesses anew', async () => {
    const key = await issue();
    await isAccepted(key, 0);
    const stored = memory.get(apiKeyKey(key.keyId));
    memory.client.on(UpdateCommand).callsFake(() => ({ Attributes: stored }));
    const useOthers = async (count: number): Promise<void> => {
      for (let other = 0; other < count; other++) await isAccepted({ ...key, keyId: `key_${other}` }, 0);
    };
    const isGuessedIdle = async (): Promise<boolean> => {
      await isAccepted(key, 1);
      return updates().at(-1)?.UpdateExpression?.startsWith('SET tat = :now') === true;
    };

    await useOthers(5_000);
    expect(await isGuessedIdle()).toBe(false);
    await useOthers(10_000);
    expect(await isGuessedIdle()).toBe(true);
  });

  test('refuses for a second when other processes keep changing the bucket', async () => {
    const key = await issue();
    const stored = memory.get(apiKeyKey(key.keyId));
    let calls = 0;
    memory.client.on(UpdateCommand).callsFake(() => {
      const tat = later(calls++ % 2 === 0 ? 10 : -10).getTime();
      throw new ConditionalCheckFailedException({
        message: '',
        $metadata: {},
        Item: marshall({ ...stored, tat, allowAt: later(-10).getTime() }),
      });
    });

    expect((await consumeApiKey(key, NOW)).retryAfterSeconds).toBe(1);
    expect(calls).toBe(4);
  });
});

describe('a key is refused', () => {
  test('when it is unknown, or its digest differs, which stays', async () => {
    const key = await issue();
    const digest = '0'.repeat(64);
    const stored = memory.get(apiKeyKey(key.keyId));

    await expect(consumeApiKey({ ...key, keyId: 'key_unknown' }, NOW)).rejects.toThrow(UnauthorizedError);
    expect(memory.get(apiKeyKey('key_unknown'))).toBeUndefined();
    await expect(consumeApiKey({ ...key, digest }, NOW)).rejects.toThrow(UnauthorizedError);
    expect(memory.get(apiKeyKey(key.keyId))?.digest).toBe(stored?.digest);
  });

  test('from the next request on once revoked, whether or not its bucket is empty', async () => {
    const [fresh, used, empty] = [await issue(), await issue(), await issue()];
    await isAccepted(used, 0);
    await burstAt(empty, 0);

    for (const key of [fresh, used, empty]) {
      await revokeApiKey(key.keyId, later(1));
      await expect(consumeApiKey(key, later(1))).rejects.toThrow(UnauthorizedError);
    }
  });
});
