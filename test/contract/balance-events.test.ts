import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ReceivedWebhook, WebhookReceiver } from '../unit/servers/webhook-receiver.ts';
import { accepted, eventually, newCaller, sharedService, unique } from './support/client.ts';
import { ops, runOps } from './support/local-service.ts';
import { uniqueEmail } from './support/resources.ts';
import { verified } from './support/webhooks.ts';

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await new WebhookReceiver().start();
});
afterAll(() => receiver?.close());

interface ShownEvent {
  eventId: string;
  type: string;
  attempts: object[];
}
interface AuditEntry {
  action: string;
  detail: string | null;
}

/** The webhooks that came to a path, once there are this many. */
const received = (path: string, count: number): Promise<ReceivedWebhook[]> =>
  eventually(
    async () => receiver.sentTo(path),
    (webhooks) => webhooks.length >= count,
  );

test('an account is told that its balance is low, and that it does not suffice; staff sees and repeats it', async () => {
  const service = await sharedService();
  const caller = await newCaller(service, 5);
  const { accountId, webhookSecret } = caller;
  const url = `http://127.0.0.1:${receiver.port}/balance`;
  expect(await ops(service, 'accounts', 'set-webhook', accountId, '--url', url, '--below', '3')).toEqual({
    ...{ accountId, url, below: 3 },
  });
  expect(await ops(service, 'accounts', 'show', accountId)).toMatchObject({ webhook: { url, below: 3 } });
  const body = () => ({ model: 'xZI1.0Pro', size: '2K', prompt: unique(), endUserEmail: uniqueEmail() });

  await accepted(caller, body());
  await accepted(caller, body());
  const refused = await caller.post('/v1/generations', body());
  expect(refused.status).toBe(402);
  await caller.post('/v1/generations', body());

  const events = (await received('/balance', 2)).map((webhook) => verified(webhook, webhookSecret));
  expect(events.toSorted((a, b) => b.type.localeCompare(a.type, 'en'))).toEqual([
    { type: 'balance.low', timestamp: expect.any(String), data: { accountId, xTokens: 1, below: 3 } },
    {
      type: 'balance.exhausted',
      timestamp: expect.any(String),
      data: { accountId, xTokens: 1, required: 2 },
    },
  ]);

  const shown = await eventually(
    () => ops<ShownEvent[]>(service, 'accounts', 'webhooks', accountId),
    (list) => list.length === 2 && list.every(({ attempts }) => attempts.length > 0),
  );
  expect(shown.map(({ type }) => type).toSorted()).toEqual(['balance.exhausted', 'balance.low']);
  expect(shown.flatMap(({ attempts }) => attempts)).toMatchObject([{ status: 204 }, { status: 204 }]);
  const [{ eventId = '' } = {}] = shown;
  expect(await ops(service, 'accounts', 'retry-webhook', accountId, eventId)).toMatchObject({
    webhookId: `msg_${eventId}`,
  });
  const again = await received('/balance', 3);
  expect(again).toHaveLength(3);
  expect(again[2]?.headers['webhook-id']).toBe(`msg_${eventId}`);
  await eventually(
    () => ops<ShownEvent[]>(service, 'accounts', 'webhooks', accountId),
    (list) => list.flatMap(({ attempts }) => attempts).length === 3,
  );

  expect(await ops(service, 'accounts', 'set-webhook', accountId, '--none')).toEqual({
    ...{ accountId, url: null, below: null },
  });
  const audit = await ops<AuditEntry[]>(service, 'audit', 'list', '--account', accountId);
  expect(audit.map(({ action, detail }) => [action, detail])).toEqual(
    expect.arrayContaining([
      ['accounts set-webhook', `127.0.0.1:${receiver.port}, below 3`],
      ['accounts set-webhook', 'none'],
      ['accounts retry-webhook', null],
    ]),
  );
});

test.each([
  ['--url', 'http://example.com/', '--below', '5'],
  ['--url', 'https://169.254.169.254/', '--below', '5'],
  ['--url', 'https://user:secret@example.com/', '--below', '5'],
  ['--url', 'https://example.com/'],
  ['--url', 'https://example.com/', '--below', '0'],
  ['--url', 'https://example.com/', '--below', '5', '--none'],
  [],
])('set-webhook refuses %s %s %s %s %s', async (...args) => {
  const service = await sharedService();

  const command = ['accounts', 'set-webhook', service.accountId, ...args.filter(Boolean)];
  const { code } = await runOps(service, ...command);
  expect(code).toBe(2);
});
