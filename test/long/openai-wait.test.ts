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
