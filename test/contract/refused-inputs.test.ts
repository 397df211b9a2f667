import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anImage } from '../../packages/media/test/images.ts';
import { WebhookReceiver } from '../unit/servers/webhook-receiver.ts';
import { accepted, eventually, settled, unique } from './support/client.ts';
import { balance } from './support/ledger.ts';
import { uniqueEmail } from './support/resources.ts';
import { useCaller } from './support/use-caller.ts';
import { verified, type WebhookEvent } from './support/webhooks.ts';

const caller = useCaller();

const tiny = await anImage(8, 8);

/** A file server of the caller, with a picture that no model takes. */
const files = createServer(({ url }, response) => {
  if (url === '/tiny.png') response.end(tiny);
  else response.writeHead(Number(url?.slice(1)) || 404).end();
});
const fileAt = (path: string) => `http://127.0.0.1:${(files.address() as AddressInfo).port}/${path}`;
let receiver: WebhookReceiver;
beforeAll(async () => {
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  receiver = await new WebhookReceiver().start();
});
afterAll(async () => {
  files.close();
  await receiver.close();
});

test.each([
  ['403', 'references[1] could not be fetched by the provider: its server answered 403.'],
  ['tiny.png', 'references[1] is smaller than the model takes.'],
])(
  'An image that the provider refuses is named with the reason, in record and webhook, and refunded: %s',
  async (path, message) => {
    const before = await balance(caller);
    const webhookUrl = `${receiver.url}/${path}`;
    const delivery = `${new URL(webhookUrl).pathname}`;
    const references = ['https://files.example.com/fine.png', fileAt(path)];
    const { requestId } = await accepted(caller, {
      model: 'xSD4.5',
      prompt: unique(),
      references,
      webhookUrl,
    });

    const error = { code: 'provider_error', message };
    expect(await settled(caller, requestId)).toMatchObject({ status: 'failed', error });
    const received = await eventually(async () => receiver.sentTo(delivery)[0], Boolean);
    const event: WebhookEvent = verified(received, caller.webhookSecret);
    expect(event.data).toMatchObject({ requestId, error });
    expect(await balance(caller)).toBe(before);
  },
);

test('OpenAI’s clients get 400 for an image that the provider refuses, which they do not repeat', async () => {
  const { service, key } = caller;
  const body = new FormData();
  const fields = { model: 'xSD4.5', image: fileAt('tiny.png'), prompt: unique(), user: uniqueEmail() };
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${service.baseUrl}/openai/v1/images/edits`, { method: 'POST', headers, body });

  expect(answer.status).toBe(400);
  expect(await answer.json()).toEqual({
    error: {
      ...{ type: 'invalid_request_error', code: 'invalid_value', param: 'image' },
      message: 'image[0] is smaller than the model takes.',
    },
  });
});
