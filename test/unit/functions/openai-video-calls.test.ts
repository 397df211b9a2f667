import { describe, expect, test } from '@jest/globals';
import { putAlias } from '../../../core/models/model-settings.ts';
import { requestKey } from '../../../core/table/keys.ts';
import { handler as videos } from '../../../functions/api/openai-videos.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { aCaller } from '../builders/callers.ts';
import { EMAIL } from '../builders/entities.ts';
import { useOpenAiCalls } from './openai-calls.ts';

const { memory, created } = useOpenAiCalls();

const BODY = { model: 'xW3.0s', prompt: 'waves', user: EMAIL };
const send = async (body: object, more: Record<string, string> = {}, caller = aCaller(memory)) => {
  const headers = { ...(await caller).headers, ...more };
  const event = anApiEvent({ resource: '/openai/v1/videos', method: 'POST', headers, body });
  return read(await videos(event, aLambdaContext()));
};

describe('POST /openai/v1/videos', () => {
  test('is 404 to a retry whose video was deleted, and makes no other', async () => {
    const caller = aCaller(memory);
    const { body: video } = await send(BODY, {}, caller);
    memory.remove(requestKey(video.id));

    const { status, headers, body } = await send(BODY, { 'X-Stainless-Retry-Count': '1' }, caller);

    expect([status, body.error.code, headers['x-should-retry']]).toEqual([404, 'not_found', 'false']);
    expect(body.error.message).toContain(video.id);
    expect(created()).toHaveLength(1);
  });

  test('refuses an alias of a model of images by a message with the name and what is on offer', async () => {
    await putAlias('gpt-image-1', 'xQI3Pro');

    const { status, body } = await send({ ...BODY, model: 'gpt-image-1' });

    expect([status, body.error.param]).toEqual([400, 'model']);
    expect(body.error.message).toMatch(/^'model' "gpt-image-1" is not on offer: choose xW/);
  });
});

test.each(['input_reference', 'input_reference[image_url]'])(
  'a form names its picture by %s',
  async (name) => {
    const { headers } = await aCaller(memory);
    const data = new FormData();
    const picture = 'https://images.example.com/a.png';
    for (const field of Object.entries({ ...BODY, model: 'xW2.7S', [name]: picture })) data.append(...field);
    const form = new Response(data);
    const event = anApiEvent({
      ...{ resource: '/openai/v1/videos', method: 'POST', isBase64Encoded: true },
      headers: { ...headers, 'content-type': form.headers.get('content-type') ?? '' },
      body: Buffer.from(await form.arrayBuffer()).toString('base64'),
    });

    const { status, body } = await read(await videos(event, aLambdaContext()));

    expect(status).toBe(200);
    expect(memory.get(requestKey(body.id))).toMatchObject({ image: picture });
  },
);

test('a route that is none of videos is 404 in the shape of errors of this surface', async () => {
  const { headers } = await aCaller(memory);
  const event = anApiEvent({ resource: '/openai/v1/videos/{id}/remix', method: 'POST', headers });

  const { status, body } = await read(await videos(event, aLambdaContext()));

  expect([status, body.error.code]).toEqual([404, 'not_found']);
  expect(body.error.message).toContain('There is no such route.');
});
