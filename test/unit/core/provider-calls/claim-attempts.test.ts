import { beforeEach, describe, expect, test } from '@jest/globals';
import { type ClaimOptions, claimAttempts } from '../../../../core/provider-calls/claim-attempts.ts';
import { providerAttemptKey, providerWaitKey, requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { anAttempt, anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { cancelled, tableError } from '../../builders/table-errors.ts';
import { memory } from '../../fakes/fresh-table.ts';

const key = providerAttemptKey(REQUEST_ID, 0, 0);
const stored = () => memory.get(key);

describe('claiming attempts', () => {
  let claims = 0;
  const claim = (...calls: { call: number; attempt: number }[]) =>
    claimAttempts(REQUEST_ID, calls, { ...CLAIM, claimId: `claim-${claims++}` });
  const ORIGIN = { provider: 'modelark', upstreamModel: 'up', baseUrl: 'https://up.example' } as const;
  const CLAIM = { origin: ORIGIN, now: NOW, assignment: 1 };
  const FIRST = { call: 0, attempt: 0 };
  const assignment = { route: 'modelark/up', number: 1 };
  beforeEach(() => memory.put(requestKey(REQUEST_ID), anImageRequest({ assignment })));

  test('stores them before the calls, unless one is claimed already or the request has ended', async () => {
    const attempts = [anAttempt({ call: 2, attempt: 1, ...ORIGIN }), anAttempt({ call: 3, ...ORIGIN })];

    expect(await claim({ call: 2, attempt: 1 }, { call: 3, attempt: 0 })).toStrictEqual({
      kind: 'claimed',
      attempts,
    });
    expect(memory.transactions).toHaveLength(1);
    const [first, second] = ['ATTEMPT#02#01', 'ATTEMPT#03#00'].map((SK) =>
      memory.get({ PK: `REQUEST#${REQUEST_ID}`, SK }),
    );
    const claimed = { claimId: expect.any(String), ttl: NOW.getTime() / 1000 + 100 * 86_400 };
    expect([first, second]).toMatchObject(attempts.map((attempt) => ({ ...attempt, ...claimed })));
    expect(memory.get({ PK: `REQUEST#${REQUEST_ID}`, SK: 'WAIT' })).toBeDefined();
    expect(memory.get(requestKey(REQUEST_ID))).toMatchObject({
      ...anImageRequest(),
      dispatchedAt: NOW.toISOString(),
      assignment: { ...assignment, claimId: 'claim-0' },
    });
  });

  const recorded = (attempt: number, options: Partial<ClaimOptions>) =>
    claimAttempts(REQUEST_ID, [{ call: 0, attempt }], {
      ...CLAIM,
      ...{ now: atSeconds(attempt), claimId: `${attempt}`, ...options },
    });

  test('records the first claim on the request, and the id of the last', async () => {
    await recorded(0, {});
    await recorded(1, {});

    expect(memory.get(requestKey(REQUEST_ID))).toMatchObject({
      dispatchedAt: NOW.toISOString(),
      assignment: { ...assignment, claimId: '1' },
    });
  });

  test('is refused when another run has assigned its request a route', async () => {
    expect(await recorded(0, { assignment: 2 })).toEqual({ kind: 'taken' });
    expect(stored()).toBeUndefined();
  });

  test('begins the processing of its request or opens its wait, by whether its provider answers with a task', async () => {
    const written = () => [
      memory.get(requestKey(REQUEST_ID))?.status,
      memory.get(providerWaitKey(REQUEST_ID)),
    ];

    await recorded(0, { beginsProcessing: true });
    expect(written()).toEqual(['processing', undefined]);
    memory.put(requestKey(REQUEST_ID), anImageRequest({ assignment }));
    await recorded(1, { beginsProcessing: false });
    expect(written()).toEqual([
      'queued',
      expect.objectContaining({ requestId: REQUEST_ID, ttl: atSeconds(1).getTime() / 1000 + 100 * 86_400 }),
    ]);
  });

  test.each<[string, () => void]>([
    ['succeeded', () => memory.patch(requestKey(REQUEST_ID), { status: 'succeeded' })],
    ['failed', () => memory.patch(requestKey(REQUEST_ID), { status: 'failed' })],
    ['was deleted', () => memory.remove(requestKey(REQUEST_ID))],
  ])('is refused when the request %s', async (_, end) => {
    end();

    expect(await claim(FIRST)).toEqual({ kind: 'ended' });
    expect(stored()).toBeUndefined();
    expect(memory.get(providerWaitKey(REQUEST_ID))).toBeUndefined();
  });

  test('is refused as a whole when another run has claimed one of them', async () => {
    await claim({ call: 1, attempt: 0 });

    expect(await claim(FIRST, { call: 1, attempt: 0 })).toEqual({ kind: 'taken' });
    expect(stored()).toBeUndefined();
  });

  test('writes nothing when there are none', async () => {
    expect(await claim()).toEqual({ kind: 'claimed', attempts: [] });
    expect(memory.transactions).toEqual([]);
  });

  test('is repeated after a conflict', async () => {
    memory.beforeTransaction = (attempt) => {
      if (attempt === 1) throw cancelled('None', 'TransactionConflict');
    };

    expect(await claim(FIRST)).toStrictEqual({ kind: 'claimed', attempts: [anAttempt(ORIGIN)] });
  });

  test('succeeds when the answer was lost and the repeated write finds its own claim', async () => {
    memory.afterTransaction = (attempt) => {
      if (attempt === 1) throw tableError('TransactionInProgressException');
    };

    expect(await claim(FIRST)).toStrictEqual({ kind: 'claimed', attempts: [anAttempt(ORIGIN)] });
    expect(memory.transactions).toHaveLength(2);
  });

  test('succeeds for one of many', async () => {
    const claims = await Promise.all([1, 2, 3].map(() => claim(FIRST)));

    expect(claims.map(({ kind }) => kind).sort()).toEqual(['claimed', 'taken', 'taken']);
  });

  test('repeated by the same run after an error succeeds, though the first was written', async () => {
    memory.afterTransaction = () => {
      throw tableError('TimeoutError');
    };
    const again = () => claimAttempts(REQUEST_ID, [FIRST], { ...CLAIM, claimId: 'own' });
    await expect(again()).rejects.toThrow('TimeoutError');

    expect(await again()).toStrictEqual({ kind: 'claimed', attempts: [anAttempt(ORIGIN)] });
  });
});
