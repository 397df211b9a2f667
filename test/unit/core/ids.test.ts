import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  auditIdsFrom,
  balanceEventId,
  creationTimeOf,
  newAccountId,
  newAuditId,
  newLedgerEntryId,
  newRequestId,
  newWebhookSecret,
  outputId,
  parseBalanceEventId,
  requestKindOf,
} from '../../../core/ids.ts';
import { outputObjectKey } from '../../../core/object-keys.ts';
import { ledgerEntrySort, MAX_ENTRY_NUMBER, providerAttemptKey } from '../../../core/table/keys.ts';
import { NOW } from '../builders/clocks.ts';

const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}';

describe('an id', () => {
  test.each([
    ['of an image request', newRequestId('image', NOW), 'img_'],
    ['of a video request', newRequestId('video', NOW), 'vid_'],
    ['of a ledger entry', newLedgerEntryId(NOW), 'led_'],
    ['of an account', newAccountId(NOW), 'acc_'],
  ])('%s is a ULID behind its prefix', (_, id, prefix) => {
    expect(id).toMatch(new RegExp(`^${prefix}${ULID}$`));
  });

  test('of an output counts from 0 behind the id of its request', () => {
    expect(outputId('img_X', 0)).toBe('img_X_0');
  });

  test('sorts by the time it was made', () => {
    const instant = fc.date({ min: new Date(1), max: new Date('2200-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(instant, instant, (a, b) => {
        fc.pre(a.getTime() !== b.getTime());
        const [first, second] = a < b ? [a, b] : [b, a];
        expect(newRequestId('image', first) < newRequestId('image', second)).toBe(true);
      }),
    );
  });

  test('is never made twice', () => {
    const ids = Array.from({ length: 1000 }, () => newRequestId('image', NOW));

    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each([
    ['img_01JD4KXQ8M0000000000000001', 'image'],
    ['vid_01JD4KXQ8M0000000000000001', 'video'],
    ['img_01JD4KXQ8M000000000000001', undefined],
    ['img_01JD4KXQ8M00000000000000011', undefined],
    ['img_01jd4kxq8m0000000000000001', undefined],
    ['img_81JD4KXQ8M0000000000000001', undefined],
    ['img_01JD4KXQ8M000000000000000I', undefined],
    ['img_01JD4KXQ8M0000000000000001_0', undefined],
    ['aud_01JD4KXQ8M0000000000000001', undefined],
    ['ximg_01JD4KXQ8M0000000000000001', undefined],
    ['', undefined],
  ])('%j names a request of kind %p', (id, kind) => {
    expect(requestKindOf(id)).toBe(kind);
  });
});

test('a webhook secret is 32 random bytes in base64 behind whsec_', () => {
  const [secret, other] = [newWebhookSecret(), newWebhookSecret()];

  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
  expect(other).not.toBe(secret);
});

describe('the id of an event of a balance', () => {
  const accountId = newAccountId(NOW);

  test.each(['low', 'exhausted'] as const)(
    'names its account, also with the suffix of a delivery: %s',
    (kind) => {
      const eventId = balanceEventId(accountId, kind, 17);

      expect(eventId).toBe(`${accountId}_${kind}_17`);
      for (const suffix of ['', '-01JD4KXQ8M0000000000000009'])
        expect(parseBalanceEventId(eventId + suffix)).toEqual({ eventId, accountId });
    },
  );

  test.each(['', accountId, `${accountId}_high_1`, `${accountId}_low_`, newRequestId('image', NOW)])(
    'is not %j',
    (text) => {
      expect(parseBalanceEventId(text)).toBeUndefined();
    },
  );
});

test('the ids of changes from an instant on sort behind its beginning, those before it do not', () => {
  const [before, at] = [newAuditId(new Date(NOW.getTime() - 1)), newAuditId(NOW)];
  const beginning = auditIdsFrom(NOW.toISOString());

  expect([before > beginning, at > beginning]).toEqual([false, true]);
  for (const instant of ['1970-01-01T00:00:00.000Z', '1969-12-31T23:59:59.999Z'])
    expect(auditIdsFrom(instant)).toBe('aud_0000000000');
});

test('the id of a request says when it was created', () => {
  expect(creationTimeOf(newRequestId('video', NOW))).toBe(NOW.toISOString());
});

describe('a key', () => {
  test('of ledger entries sorts as their numbers do', () => {
    const number = fc.integer({ min: 1, max: MAX_ENTRY_NUMBER });
    fc.assert(
      fc.property(number, number, (a, b) => {
        expect(ledgerEntrySort(a) < ledgerEntrySort(b)).toBe(a < b);
      }),
    );
  });

  test('of provider attempts sorts by call, then by attempt', () => {
    const number = fc.integer({ min: 0, max: 99 });
    fc.assert(
      fc.property(number, number, number, number, (callA, attemptA, callB, attemptB) => {
        const a = providerAttemptKey('img_X', callA, attemptA).SK;
        const b = providerAttemptKey('img_X', callB, attemptB).SK;

        expect(a < b).toBe(callA < callB || (callA === callB && attemptA < attemptB));
      }),
    );
  });

  test('of an output file lies under its account and request', () => {
    expect(outputObjectKey('img_2', 3, 'png')).toBe('outputs/img_2/3.png');
  });
});
