import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  insertApiKey,
  listApiKeys,
  type ParsedKey,
  parseKey,
  revokeApiKey,
  SCOPES,
} from '../../../../core/accounts/api-keys.ts';
import { NotFoundError } from '../../../../core/errors.ts';
import { newAccountId } from '../../../../core/ids.ts';
import { apiKeyKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

const issue = async (accountId: string = ACCOUNT_ID, now: Date = NOW): Promise<string> =>
  (
    await insertApiKey(
      accountId,
      { scopes: SCOPES, label: 'first', limits: { requestsPerSecond: 50, burst: 100 } },
      now,
    )
  ).text;

const parse = (text: string): ParsedKey => {
  const parsed = parseKey(text);
  if (!parsed) throw new Error('The key is malformed.');
  return parsed;
};

test('a scope of another version gives a key nothing, and takes nothing from it', async () => {
  const { keyId } = parse(await issue());
  const item = memory.get(apiKeyKey(keyId)) ?? {};
  memory.put(apiKeyKey(keyId), { ...item, scopes: ['balance:read', 'voices:write', 'models:read'] });

  const [key] = await listApiKeys(ACCOUNT_ID);

  expect(key?.scopes.toSorted()).toEqual(['balance:read', 'models:read']);
});

describe('the text of a key', () => {
  test('names its account and carries a secret and a checksum', async () => {
    expect(await issue()).toMatch(new RegExp(`^gsk_${ACCOUNT_ID}_[0-9A-Za-z]{32}[0-9A-Za-z]{6}$`));
  });

  test('ends with the CRC-32 of the rest in six base-62 digits', async () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    for (let count = 0; count < 20; count++) {
      const text = await issue();
      const checksum = [...text.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);

      expect(checksum).toBe(crc32(text.slice(0, -6)));
    }
  });

  test('identifies the key it was issued for, and is different each time', async () => {
    const options = { scopes: SCOPES, label: '', limits: { requestsPerSecond: 1, burst: 1 } };
    const texts = new Set<string>();
    for (let count = 0; count < 50; count++) {
      const accountId = newAccountId(NOW);
      const { apiKey, text } = await insertApiKey(accountId, options, NOW);

      expect(parseKey(text)).toEqual({ accountId, keyId: apiKey.keyId, digest: apiKey.digest });
      texts.add(text.slice(-38));
    }
    expect(texts.size).toBe(50);
  });

  test('is refused after any change of a single character', async () => {
    const text = await issue();
    const character = fc.oneof(
      fc.constantFrom(...'0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghijklmnopqrstuvwxyz_'),
      fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)),
    );
    fc.assert(
      fc.property(fc.nat({ max: text.length - 1 }), character, (place, other) => {
        fc.pre(text[place] !== other);
        expect(parseKey(text.slice(0, place) + other + text.slice(place + 1))).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
  });

  test('is refused when a character is missing, added or swapped with its neighbour', async () => {
    const text = await issue();
    for (let place = 0; place < text.length; place++) {
      const [one = '', two = ''] = [text[place], text[place + 1]];
      const swapped = text.slice(0, place) + two + one + text.slice(place + 2);

      expect(parseKey(text.slice(0, place) + text.slice(place + 1))).toBeUndefined();
      expect(parseKey(`${text.slice(0, place)}0${text.slice(place)}`)).toBeUndefined();
      if (swapped !== text) expect(parseKey(swapped)).toBeUndefined();
    }
  });

  test.each(['', 'gsk_', 'Bearer x', `gsk_${ACCOUNT_ID}_${'0'.repeat(38)}`])('is not %j', (text) => {
    expect(parseKey(text)).toBeUndefined();
  });
});

describe('a stored key', () => {
  test('holds the digest and never the key', async () => {
    const text = await issue();
    const { keyId, digest } = parse(text);
    const stored = memory.get(apiKeyKey(keyId));

    expect(stored).toStrictEqual({
      PK: `KEY#${keyId}`,
      SK: 'KEY',
      GSI1PK: `ACCOUNT#${ACCOUNT_ID}#KEYS`,
      GSI1SK: `${NOW.toISOString()}#${keyId}`,
      keyId,
      accountId: ACCOUNT_ID,
      digest,
      last4: text.slice(-4),
      label: 'first',
      scopes: SCOPES,
      createdAt: NOW.toISOString(),
      intervalMs: 20,
      spareMs: 1960,
    });
    expect(digest).toBe(createHash('sha256').update(text).digest('hex'));
    expect(keyId).toBe(`key_${digest.slice(0, 32)}`);
    expect(JSON.stringify(stored)).not.toContain(text.slice(31, 63));
  });

  test('is listed with the other keys of its account, oldest first', async () => {
    const second = parse(await issue(ACCOUNT_ID, atSeconds(1)));
    const first = parse(await issue(ACCOUNT_ID, NOW));
    await issue('acc_01JD4KXQ8M0000000000000009', NOW);

    expect((await listApiKeys(ACCOUNT_ID)).map(({ keyId }) => keyId)).toEqual([first.keyId, second.keyId]);
  });

  test('can be revoked repeatedly: the first instant stays', async () => {
    const { keyId } = parse(await issue());

    expect((await revokeApiKey(keyId, atSeconds(1))).revokedAt).toBe(atSeconds(1).toISOString());
    expect((await revokeApiKey(keyId, atSeconds(2))).revokedAt).toBe(atSeconds(1).toISOString());
  });

  test('cannot be revoked when there is none', async () => {
    await expect(revokeApiKey('key_none', NOW)).rejects.toThrow(NotFoundError);
    expect(memory.get(apiKeyKey('key_none'))).toBeUndefined();
  });
});
