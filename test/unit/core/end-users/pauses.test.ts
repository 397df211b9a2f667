import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { pauseSecondsLeft, removePauses } from '../../../../core/end-users/pauses.ts';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { failedBeforeStoring } from '../../../../core/ending/failed.ts';
import { settled } from '../../../../core/ending/settled.ts';
import { ERROR_STATUS, type ErrorCode } from '../../../../core/errors.ts';
import { CATALOG } from '../../../../core/models/catalog.ts';
import { accountKey, pauseKey, requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  aStoredOutput,
  EMAIL,
  putEndUser,
  putRequest,
  REQUEST_ID,
} from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { tableError } from '../../builders/table-errors.ts';
import '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';

jest.spyOn(Math, 'random').mockReturnValue(0);
beforeEach(() => {
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  putEndUser(memory, anEndUser());
  putRequest(memory, anImageRequest({ status: 'processing', outputs: [aStoredOutput(0)] }));
});

const paused = { accountId: ACCOUNT_ID, email: EMAIL, model: 'xQI3Pro' };
const pauses = () =>
  memory.partition(`USERS#${ACCOUNT_ID}`).filter(({ SK }) => String(SK).startsWith('PAUSE#'));
const clock = new StoppedClock();
const fail = (code: ErrorCode) =>
  endRequest(REQUEST_ID, failedBeforeStoring({ code, message: 'It broke.' }), { clock });
const A_PAUSE = {
  PK: `USERS#${ACCOUNT_ID}`,
  SK: `PAUSE#${EMAIL}#xQI3Pro`,
  until: atSeconds(180).toISOString(),
  ttl: NOW.getTime() / 1000 + 180,
};

describe('a pause', () => {
  test('follows a time-out at the provider, over an earlier one, in the transaction that ends the request', async () => {
    memory.put(pauseKey(paused), { until: 'x' });

    await fail('provider_timeout');

    expect(memory.transactions).toHaveLength(1);
    expect(memory.transactions[0]?.TransactItems).toHaveLength(5);
    expect(pauses()).toEqual([A_PAUSE]);
    expect(memory.get(accountKey(ACCOUNT_ID))).toMatchObject({ balanceThousandths: 104_000 });
  });

  test.each((Object.keys(ERROR_STATUS) as ErrorCode[]).filter((code) => code !== 'provider_timeout'))(
    'does not follow %s',
    async (code) => {
      await fail(code);

      expect(memory.get(requestKey(REQUEST_ID))).toMatchObject({ status: 'failed' });
      expect(pauses()).toEqual([]);
    },
  );

  test("does not follow a caller's own file that was slow", async () => {
    const input = { reason: 'slow', field: 'references[0]' } as const;
    await endRequest(
      REQUEST_ID,
      failedBeforeStoring({ code: 'provider_timeout', message: 'It broke.', input }),
      { clock },
    );

    expect(pauses()).toEqual([]);
  });

  test.each([
    ['a success', [aStoredOutput(0)], 'succeeded'],
    ['a failure to store', [], 'failed'],
  ])('does not follow %s', async (_, outputs, status) => {
    memory.patch(requestKey(REQUEST_ID), { outputs });

    await endRequest(REQUEST_ID, settled, { clock });

    expect(memory.get(requestKey(REQUEST_ID))).toMatchObject({ status });
    expect(pauses()).toEqual([]);
  });

  test('is not written by who finds the request ended', async () => {
    memory.beforeTransaction = () => memory.patch(requestKey(REQUEST_ID), { status: 'failed' });

    await fail('provider_timeout');

    expect(pauses()).toEqual([]);
  });

  test('is written with its refund when the account changed in between or the response was lost', async () => {
    memory.beforeTransaction = (attempt) => {
      if (attempt === 1) memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 500, ledgerEntries: 7 });
    };
    memory.afterTransaction = () => {
      throw tableError('TransactionInProgressException');
    };

    await fail('provider_timeout');

    expect(memory.get(accountKey(ACCOUNT_ID))).toMatchObject({ balanceThousandths: 4_500, ledgerEntries: 8 });
    expect(pauses()).toEqual([A_PAUSE]);
  });

  test('lasts as long as is configured', async () => {
    await withEnvironment({ PAUSE_SECONDS: '3' }, () => fail('provider_timeout'));

    expect(pauses()).toMatchObject([{ until: atSeconds(3).toISOString() }]);
  });

  test.each([
    [-1, 181],
    [0, 180],
    [0.001, 180],
    [0.999, 180],
    [1, 179],
    [178.5, 2],
    [179, 1],
    [179.999, 1],
    [180, undefined],
    [180.001, undefined],
    [1e6, undefined],
  ])('%p s after the failure still holds for %p s', (seconds, left) => {
    expect(pauseSecondsLeft(A_PAUSE, atSeconds(seconds))).toBe(left);
    expect(pauseSecondsLeft(undefined, atSeconds(seconds))).toBeUndefined();
  });

  test('is removed with all others of the end-user, for every model', async () => {
    for (const { id: model } of CATALOG) memory.put(pauseKey({ ...paused, model }), { until: 'x' });
    const other = { ...paused, email: 'other@example.com' };
    memory.put(pauseKey(other), { until: 'x' });

    await removePauses(paused);

    expect(pauses()).toEqual([{ ...pauseKey(other), until: 'x' }]);
  });
});

test.each([
  [180, 180],
  [3_600, 3_600],
  [3_602, 3_602],
  [3_602.001, undefined],
  [60 * 86_400, undefined],
])('a pause that ends in %p s is one of %p s: none is longer than an hour', (seconds, left) => {
  expect(pauseSecondsLeft({ until: atSeconds(seconds).toISOString() }, NOW)).toBe(left);
});
