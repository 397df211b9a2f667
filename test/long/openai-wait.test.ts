import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';
import { expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { unique } from '../contract/support/client.ts';
import { uniqueEmail } from '../contract/support/resources.ts';
import { useOwnRun } from './own-run.ts';

const { service, caller } = useOwnRun({ xTokens: 10_000 });

test("OpenAI's client gets an image that takes longer than API Gateway's 29 s within one call", async () => {
  const client = new OpenAI({ apiKey: caller.key, baseURL: `${service.baseUrl}/openai/v1`, maxRetries: 0 });
  const { data = [] } = await client.images.generate({
    model: 'xSD4.5',
    prompt: unique('[delay=35]'),
    size: '2048x2048' as never,
    n: 4,
    user: uniqueEmail(),
  });

  expect(data.map(({ b64_json: text }) => text)).toEqual(Array(4).fill(expect.stringMatching(/.{1000}/)));
});

/** A silence that a call by itself has, and a stream never. */
const SILENT_MS = 20_000;

/** A proxy in front of the run, which ends and counts calls that are silent for the given time in either direction. */
const openImpatientProxy = async () => {
  const { port } = new URL(service.baseUrl);
  const ended: string[] = [];
  const server = createServer((incoming) => {
    const outgoing = connect(Number(port), '127.0.0.1');
    const timer = setTimeout(() => {
      ended.push('silent');
      incoming.destroy();
    }, SILENT_MS);
    pipeline(incoming, outgoing, () => undefined);
    pipeline(
      outgoing.on('data', () => timer.refresh()),
      incoming,
      () => clearTimeout(timer),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, ended, port: (server.address() as AddressInfo).port };
};

test('A streamed call is never silent: a proxy that ends silent calls lets it through, and no other', async () => {
  const { server, ended, port } = await openImpatientProxy();
  const client = new OpenAI({
    apiKey: caller.key,
    baseURL: `http://127.0.0.1:${port}/openai/v1`,
    maxRetries: 0,
  });
  const ask = () => ({
    model: 'xZI1.0Pro',
    prompt: unique('[delay=35]'),
    size: '512x512' as const,
    user: uniqueEmail(),
  });
  const streamed = async () => {
    const events: string[] = [];
    for await (const event of await client.images.generate({ ...ask(), stream: true }))
      events.push(event.type);
    return events;
  };
  const [silent, events] = await Promise.allSettled([client.images.generate(ask()), streamed()]);
  server.close();

  expect(silent).toMatchObject({ status: 'rejected' });
  expect(events).toEqual({ status: 'fulfilled', value: ['image_generation.completed'] });
  expect(ended).toEqual(['silent']);
});
