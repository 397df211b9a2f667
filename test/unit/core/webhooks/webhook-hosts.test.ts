import { beforeEach, describe, expect, test } from '@jest/globals';
import { hostDigest } from '../../../../core/concurrency/in-flight.ts';
import { webhookHostKey } from '../../../../core/table/keys.ts';
import { backOffFrom, endBackOff, findHostBackOff } from '../../../../core/webhooks/webhook-hosts.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

const URL = 'https://hooks.example.com/a';
const key = webhookHostKey(ACCOUNT_ID, hostDigest(URL));
const at = (seconds: number): string => atSeconds(seconds).toISOString();
const found = (seconds = 0) => findHostBackOff(ACCOUNT_ID, URL, atSeconds(seconds));
const hang = (seen = 0, seconds = 0) =>
  backOffFrom(
    ACCOUNT_ID,
    URL,
    seen === 0 ? undefined : { hangs: seen, notBefore: at(0) },
    atSeconds(seconds),
  );

describe('a host that hung', () => {
  beforeEach(() => hang());

  test('is backed off from for twice as long by one of several attempts that hang again', async () => {
    await Promise.all([hang(1, 30), hang(1, 30), hang(1, 31)]);

    expect(await found(30)).toEqual({ hangs: 2, notBefore: at(90) });
  });

  test('counts as new from a day after its back-off on', async () => {
    expect(await found(86_429)).toMatchObject({ hangs: 1 });
    expect(await found(86_430)).toBeUndefined();

    await hang(0, 86_429);
    expect(memory.get(key)).toMatchObject({ notBefore: at(30) });
    await hang(0, 86_430);
    expect(memory.get(key)).toMatchObject({ hangs: 1, notBefore: at(86_460) });
  });

  test.each([
    [-2, 30],
    [-2.001, -2.001],
  ])('%p s before that may be called %p s after it', async (seconds, notBefore) => {
    expect(await found(seconds)).toEqual({ hangs: 1, notBefore: at(notBefore) });
  });

  test('that answers is called as any other, and keeps nothing but the time of its removal', async () => {
    await endBackOff(ACCOUNT_ID, URL, { hangs: 1, notBefore: at(30) });

    expect(await found()).toBeUndefined();
    expect(memory.get(key)).toEqual({ ...key, ttl: NOW.getTime() / 1000 + 30 + 86_400 });
  });

  test('is backed off from still when it has hung again since an attempt began that it answers', async () => {
    await hang(1, 30);
    await endBackOff(ACCOUNT_ID, URL, { hangs: 1, notBefore: at(30) });

    expect(await found(30)).toMatchObject({ hangs: 2 });
  });
});

test('a host that never hung is not written when it answers', async () => {
  await endBackOff(ACCOUNT_ID, URL, { hangs: 1, notBefore: at(30) });

  expect(memory.get(key)).toBeUndefined();
  expect(await found()).toBeUndefined();
});
