import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../../core/accounts/accounts.ts';
import { insertApiKey, SCOPES } from '../../../core/accounts/api-keys.ts';
import {
  accountKey,
  apiKeyKey,
  deletedRequestKey,
  endUserKey,
  requestKey,
} from '../../../core/table/keys.ts';
import type { Removals } from '../../../ops/restore/compare-tables.ts';
import { repeatRemovals } from '../../../ops/restore/repeat-removals.ts';
import { NOW, StoppedClock } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  EMAIL,
  putEndUser,
  putRequest,
  REQUEST_ID,
} from '../builders/entities.ts';
import '../fakes/fresh-bucket.ts';
import '../fakes/fresh-executions.ts';
import { memory } from '../fakes/fresh-table.ts';

const NOTHING: Removals = {
  requests: [],
  endUsers: [],
  keys: [],
  accountBlocks: [],
  endUserBlocks: [],
  webhookSecrets: [],
};
const clock = new StoppedClock();
const repeat = (removals: Partial<Removals>) => repeatRemovals({ ...NOTHING, ...removals }, clock);
const balance = () => memory.get(accountKey(ACCOUNT_ID))?.balanceThousandths;

beforeEach(() => {
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  putEndUser(memory, anEndUser({ activeRequests: 1 }));
  putRequest(memory, anImageRequest());
});

describe('a removal that is done again', () => {
  test('refunds a request that is unfinished here, deletes it, and then its end-user', async () => {
    const before = Number(balance());

    const problems = await repeat({
      requests: [{ accountId: ACCOUNT_ID, requestId: REQUEST_ID }],
      endUsers: [{ accountId: ACCOUNT_ID, email: EMAIL }],
    });

    expect(problems).toEqual([]);
    expect(memory.get(requestKey(REQUEST_ID))).toBeUndefined();
    expect(memory.get(deletedRequestKey(ACCOUNT_ID, REQUEST_ID))).toMatchObject({
      accounted: { status: 'failed', refundThousandths: 4_000 },
    });
    expect(memory.get(endUserKey(ACCOUNT_ID, EMAIL))).toBeUndefined();
    expect(Number(balance()) - before).toBe(4_000);
  });

  test('changes nothing the second time', async () => {
    const removals = {
      requests: [{ accountId: ACCOUNT_ID, requestId: REQUEST_ID }],
      endUsers: [{ accountId: ACCOUNT_ID, email: EMAIL }],
    };
    await repeat(removals);
    const after = balance();

    expect(await repeat(removals)).toEqual([]);
    expect(balance()).toBe(after);
  });

  test('names an end-user’s account where a request is unfinished that was not deleted', async () => {
    const problems = await repeat({ endUsers: [{ accountId: ACCOUNT_ID, email: EMAIL }] });

    expect(problems).toEqual([
      expect.stringMatching(new RegExp(`^an end-user of account ${ACCOUNT_ID} could not be removed: `)),
    ]);
    expect(memory.get(endUserKey(ACCOUNT_ID, EMAIL))).not.toHaveProperty('removalId');
  });

  test('names an end-user’s account where a request cannot be read, in place of trying for ever', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    putEndUser(memory, anEndUser({ activeRequests: 0 }));
    memory.patch(requestKey(REQUEST_ID), { prompt: 7 });
    let calls = 0;
    memory.beforeCall = () => {
      if (++calls > 200) throw new Error('It tries for ever.');
    };

    const problems = await repeat({ endUsers: [{ accountId: ACCOUNT_ID, email: EMAIL }] });

    expect(problems).toEqual([
      expect.stringMatching(new RegExp(`^an end-user of account ${ACCOUNT_ID} could not be removed: `)),
    ]);
  });

  test('fails as the table does, for an end-user too', async () => {
    memory.beforeCall = () => {
      throw new Error('The table is out of order.');
    };

    await expect(repeat({ endUsers: [{ accountId: ACCOUNT_ID, email: EMAIL }] })).rejects.toThrow(
      'out of order',
    );
  });

  test('revokes every key that was revoked, at the same instants', async () => {
    const created = await Promise.all(
      ['one', 'two'].map((label) =>
        insertApiKey(ACCOUNT_ID, { scopes: SCOPES, label, limits: DEFAULT_LIMITS }, NOW),
      ),
    );
    const keyIds = created.map(({ apiKey }) => apiKey.keyId);
    const revokedAt = '2026-11-19T10:00:00.000Z';

    await repeat({ keys: keyIds.map((keyId) => ({ keyId, revokedAt })) });

    expect(keyIds.map((keyId) => memory.get(apiKeyKey(keyId))?.revokedAt)).toEqual([revokedAt, revokedAt]);
  });

  test('keeps the instants of blocks', async () => {
    const blockedAt = '2026-11-19T10:00:00.000Z';
    await repeat({
      accountBlocks: [{ accountId: ACCOUNT_ID, blockedAt }],
      endUserBlocks: [{ accountId: ACCOUNT_ID, email: EMAIL, blockedAt }],
    });

    expect(memory.get(accountKey(ACCOUNT_ID))).toMatchObject({ blockedAt });
    expect(memory.get(endUserKey(ACCOUNT_ID, EMAIL))).toMatchObject({ blockedAt });
  });
});
