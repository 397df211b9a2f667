import '../../unit/builders/environment.ts';
import { verify } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { newKey } from '../../../core/accounts/api-keys.ts';
import { loadUrlSigner } from '../../../core/files/signed-urls.ts';
import { newWebhookSecret } from '../../../core/ids.ts';
import { callbackUrl } from '../../../core/provider-calls/provider-urls.ts';
import type { EndpointName } from '../../../core/routes.ts';
import { signatureHeaders, webhookIdOf } from '../../../core/webhooks/webhook-rules.ts';
import { aGenerationBody, aVideoBody } from '../../unit/builders/bodies.ts';
import { aCaller } from '../../unit/builders/callers.ts';
import { NOW } from '../../unit/builders/clocks.ts';
import {
  ACCOUNT_ID,
  anEndUser,
  anImageRequest,
  aVideoRequest,
  EMAIL,
  putEndUser,
  putRequest,
  REQUEST_ID,
  VIDEO_ID,
} from '../../unit/builders/entities.ts';
import { aSigningKey } from '../../unit/builders/signing-key.ts';
import { stopTime } from '../../unit/builders/stop-time.ts';
import { callsBeforeTheKey, executions, KEYED_ROUTES, memory, reset, secrets, send } from './service.ts';

const OTHER_ACCOUNT = 'acc_01JD4KXQ8M0000000000000009';

beforeEach(() => {
  reset();
  stopTime(NOW);
  putEndUser(memory, anEndUser({ activeRequests: 0 }));
  putRequest(memory, anImageRequest());
  putRequest(memory, aVideoRequest());
});

/** What a caller of the account would send to a route. */
const eventOf = (name: EndpointName) => ({
  pathParameters: { email: EMAIL, requestId: name === 'get-video' ? VIDEO_ID : REQUEST_ID },
  ...(name === 'create-generation' && { body: aGenerationBody() }),
  ...(name === 'create-video' && { body: aVideoBody() }),
  ...(name === 'create-quote' && { body: { kind: 'image', ...aGenerationBody() } }),
  ...(name === 'bulk-delete-generations' && { body: { requestIds: [REQUEST_ID, VIDEO_ID] } }),
});

/** An account, its end-users and its idempotency records. */
const ofAccount = (accountId: string) =>
  ['ACCOUNT', 'USERS', 'IDEMPOTENCY'].map((kind) => memory.partition(`${kind}#${accountId}`));
/** Everything in the table, but for when a key was used. */
const everything = () =>
  JSON.stringify([ACCOUNT_ID, OTHER_ACCOUNT].map(ofAccount)) +
  JSON.stringify([REQUEST_ID, VIDEO_ID].map((id) => memory.partition(`REQUEST#${id}`)));

describe.each(KEYED_ROUTES)('%s', (name) => {
  test('refuses every forged key after the same single-item calls, and changes nothing', async () => {
    const before = everything();
    for (let attempt = 0; attempt < 200; attempt++) {
      const { text } = newKey(attempt % 2 === 0 ? ACCOUNT_ID : OTHER_ACCOUNT);
      const { status, calls } = await send(name, {
        ...eventOf(name),
        headers: { authorization: `Bearer ${text}` },
      });
      expect([status, calls]).toEqual([401, callsBeforeTheKey(name)]);
    }
    expect(everything()).toBe(before);
  });

  test('refuses every key that is altered, without a call unless it is well-formed', async () => {
    const { headers } = await aCaller(memory);
    const key = String(headers.Authorization).slice('Bearer '.length);
    const altered = fc
      .tuple(fc.nat(key.length - 1), fc.string({ minLength: 0, maxLength: 2 }))
      .map(([place, text]) => key.slice(0, place) + text + key.slice(place + 1))
      .filter((text) => text !== key && !/[\s]/.test(text));
    await fc.assert(
      fc.asyncProperty(altered, async (text) => {
        const { status, calls } = await send(name, {
          ...eventOf(name),
          headers: { authorization: `Bearer ${text}` },
        });
        expect([status, calls]).toEqual([401, {}]);
      }),
      { numRuns: 200 },
    );
  });

  test('gives a caller nothing of another account, and changes nothing there', async () => {
    const { headers } = await aCaller(memory, { account: { accountId: OTHER_ACCOUNT } });
    const theirs = () =>
      JSON.stringify(ofAccount(ACCOUNT_ID)) +
      JSON.stringify([REQUEST_ID, VIDEO_ID].map((id) => memory.partition(`REQUEST#${id}`)));
    const before = theirs();
    const { body } = await send(name, { ...eventOf(name), headers });

    expect(theirs()).toBe(before);
    const shown = JSON.stringify(body);
    expect(shown).not.toContain(ACCOUNT_ID);
    // A bulk deletion names the caller's own ids again, and a creation the address they sent.
    if (name === 'bulk-delete-generations')
      expect(body).toMatchObject({ deleted: 0, notFound: [REQUEST_ID, VIDEO_ID] });
    else expect(shown).not.toContain(REQUEST_ID);
    expect(body.items ?? []).toEqual([]);
  });
});

describe('callback tokens', () => {
  test('are refused for any other provider and request, altered or cut, without a table call', async () => {
    const [provider = '', requestId = '', token = ''] = new URL(
      await callbackUrl('modelark', VIDEO_ID),
    ).pathname
      .split('/')
      .slice(2);
    const others = fc.oneof(
      fc.record({
        provider: fc.constant(provider),
        requestId: fc.constant(requestId),
        token: fc
          .tuple(fc.nat(token.length - 1), fc.string({ maxLength: 2 }))
          .map(([place, text]) => token.slice(0, place) + text + token.slice(place + 1)),
      }),
      fc.record({
        provider: fc.oneof(fc.constantFrom('modelstudio', 'MODELARK', '__proto__'), fc.string()),
        requestId: fc.constant(requestId),
        token: fc.constant(token),
      }),
      fc.record({
        provider: fc.constant(provider),
        requestId: fc.oneof(
          fc.constantFrom(REQUEST_ID, `${requestId} `, requestId.toLowerCase()),
          fc.string(),
        ),
        token: fc.constant(token),
      }),
    );
    await fc.assert(
      fc.asyncProperty(others, async (forged) => {
        const isReal =
          forged.provider === provider && forged.requestId === requestId && forged.token === token;
        fc.pre(!isReal);
        const pathParameters = Object.fromEntries(
          Object.entries(forged).map(([name, value]) => [
            name,
            encodeURIComponent(value.toWellFormed()) || '-',
          ]),
        );
        const { status, calls } = await send('receive-callback', { pathParameters });
        expect([status, calls]).toEqual([404, {}]);
      }),
      { numRuns: 2_000 },
    );
    expect(executions.woken).toEqual([]);
  });
});

describe('signatures', () => {
  test('of files are refused when any character of the URL is altered', async () => {
    const { privateKeyPem, publicKey } = aSigningKey();
    secrets.set('arn:delivery-key', privateKeyPem);
    const signed = (await loadUrlSigner())('outputs/img_1/0.png', '2026-11-21T08:00:00.000Z');
    const isSigned = (text: string): boolean => {
      const parameters = new URLSearchParams(text.slice(text.indexOf('?')));
      const policy = JSON.stringify({
        Statement: [
          {
            Resource: text.slice(0, text.indexOf('?')),
            Condition: { DateLessThan: { 'AWS:EpochTime': Number(parameters.get('Expires')) } },
          },
        ],
      });
      const signature = (parameters.get('Signature') ?? '')
        .replaceAll('-', '+')
        .replaceAll('_', '=')
        .replaceAll('~', '/');
      return verify('sha256', Buffer.from(policy), publicKey, Buffer.from(signature, 'base64'));
    };
    expect(isSigned(signed)).toBe(true);
    const rangeOf = (name: string): [number, number] => {
      const start = signed.indexOf(`${name}=`) + name.length + 1;
      return [start, signed.indexOf('&', start)];
    };
    const [signature, signatureEnd] = rangeOf('Signature');
    // The last characters hold padding and bits that mean nothing.
    for (const [from, to] of [
      [0, signed.indexOf('?')],
      rangeOf('Expires'),
      [signature, signatureEnd - 3],
    ] as const) {
      for (let place = from; place < to; place++) {
        const other = signed[place] === '1' ? '2' : '1';
        const altered = signed.slice(0, place) + other + signed.slice(place + 1);
        expect([altered, isSigned(altered)]).toEqual([altered, false]);
      }
    }
  });

  test('of webhooks are refused by the official library when anything is altered', () => {
    const secret = newWebhookSecret();
    const body = JSON.stringify({ type: 'generation.succeeded' });
    const headers = signatureHeaders(webhookIdOf(REQUEST_ID), body, [secret], new Date(Date.now()));
    const webhook = new Webhook(secret);
    expect(() => webhook.verify(body, headers)).not.toThrow();
    for (const name of Object.keys(headers)) {
      const value = headers[name] ?? '';
      for (let place = 0; place < value.length - 2; place++) {
        const other = value[place] === '1' ? '2' : '1';
        const altered = { ...headers, [name]: value.slice(0, place) + other + value.slice(place + 1) };
        expect(() => webhook.verify(body, altered)).toThrow();
      }
    }
    for (let place = 0; place < body.length; place++) {
      expect(() => webhook.verify(`${body.slice(0, place)}x${body.slice(place + 1)}`, headers)).toThrow();
    }
  });
});
