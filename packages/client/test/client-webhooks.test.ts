import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { verifyWebhook, WebhookVerificationError } from '../src/index.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const OTHER = `whsec_${randomBytes(32).toString('base64')}`;
const NOW = new Date('2026-11-22T09:00:00.000Z');
const EVENT = { type: 'generation.failed', data: { requestId: 'img_1', prompt: 'Zürich „in Öl“ 🗼' } };
const BODY = JSON.stringify(EVENT, null, 1);

const sign = (secret: string, id: string, timestamp: string, body: string): string =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64')}`;
const signed = (secrets: readonly string[] = [SECRET], secondsAgo = 0) => {
  const timestamp = String(Math.floor(NOW.getTime() / 1000) - secondsAgo);
  return {
    'webhook-id': 'msg_img_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => sign(secret, 'msg_img_1', timestamp, BODY)).join(' '),
  };
};

describe('a webhook is accepted', () => {
  test.each<[string, Parameters<typeof verifyWebhook>]>([
    ['as text', [BODY, signed(), SECRET]],
    ['as bytes', [new TextEncoder().encode(BODY), signed(), SECRET]],
    ['with a Headers object', [BODY, new Headers(signed()), SECRET]],
    [
      'with headers in any case',
      [
        BODY,
        Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value])),
        SECRET,
      ],
    ],
    ['signed by two secrets, the receiver knowing the new one', [BODY, signed([OTHER, SECRET]), SECRET]],
    ['when the receiver knows two', [BODY, signed(), [OTHER, SECRET]]],
    [
      'with a signature of a later scheme beside',
      [BODY, { ...signed(), 'webhook-signature': `v2,x v1a,! ${signed()['webhook-signature']}` }, SECRET],
    ],
    ['from 5 min ago', [BODY, signed([SECRET], 300), SECRET]],
    ['from a clock that is 5 min ahead', [BODY, signed([SECRET], -300), SECRET]],
  ])('%s', async (_how, [body, headers, secrets]) => {
    expect(await verifyWebhook(body, headers, secrets, NOW)).toEqual({ id: 'msg_img_1', event: EVENT });
  });
});

describe('a webhook is refused', () => {
  const without = (name: string) => ({ ...signed(), [name]: undefined });
  test.each<[string, Parameters<typeof verifyWebhook>]>([
    ['by a wrong secret', [BODY, signed(), OTHER]],
    ['with a changed byte', [BODY.replace('img_1', 'img_2'), signed(), SECRET]],
    ['written again from what was parsed', [JSON.stringify(EVENT), signed(), SECRET]],
    ['under another id', [BODY, { ...signed(), 'webhook-id': 'msg_img_2' }, SECRET]],
    ['that is stale', [BODY, signed([SECRET], 301), SECRET]],
    ['from the future', [BODY, signed([SECRET], -301), SECRET]],
    ['without an id', [BODY, without('webhook-id'), SECRET]],
    ['without a timestamp', [BODY, without('webhook-timestamp'), SECRET]],
    ['with a timestamp that is no number', [BODY, { ...signed(), 'webhook-timestamp': 'NaN' }, SECRET]],
    ['without a signature', [BODY, without('webhook-signature'), SECRET]],
    ['with an empty signature', [BODY, { ...signed(), 'webhook-signature': 'v1,' }, SECRET]],
    ['without any secret', [BODY, signed(), []]],
  ])('%s', async (_why, [body, headers, secrets]) => {
    await expect(verifyWebhook(body, headers, secrets, NOW)).rejects.toBeInstanceOf(WebhookVerificationError);
  });

  test('as a mistake of the receiver, when it was parsed or the secret is none', async () => {
    await expect(verifyWebhook(EVENT as never, signed(), SECRET, NOW)).rejects.toThrow(/raw body/);
    await expect(verifyWebhook(BODY, signed(), 'secret', NOW)).rejects.toThrow(/whsec_/);
    await expect(verifyWebhook(BODY, signed(), 'whsec_', NOW)).rejects.toThrow(/whsec_/);
  });
});
