import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { requestKey } from '../../../core/table/keys.ts';
import { handler as listModels } from '../../../functions/api/list-openai-models.ts';
import { EMAIL } from '../builders/entities.ts';
import { useOpenAiCalls } from './openai-calls.ts';

/** What `openai` 3.22.1 for Python sent: `images.generate`, `models.list`, `images.generate` with its retry after a 408, `images.edit` twice. */
const RECORDED: { path: string; headers: Record<string, string>; body: string }[] = JSON.parse(
  readFileSync(new URL('recorded/openai-python.json', import.meta.url), 'utf8'),
);

const { world, memory, executions, bucket, calls } = useOpenAiCalls();

const recorded = (index: number) => {
  const call = RECORDED[index];
  if (!call) throw new Error(`There is no call ${index}.`);
  const retry = Number(call.headers['x-stainless-retry-count']);
  const event = { body: call.body, isBase64Encoded: true, headers: call.headers };
  return { retry, event, text: Buffer.from(call.body, 'base64').toString() };
};

test('images.generate makes images', async () => {
  const { text, retry } = recorded(0);
  const { status, body, requestId } = await calls.make(text, { retry, endsAfterSeconds: 1 });

  expect([status, body.data]).toEqual([
    200,
    Array(2).fill({ b64_json: expect.any(String), url: expect.any(String) }),
  ]);
  expect(memory.get(requestKey(requestId))).toMatchObject({
    size: '1024x1024',
    images: 2,
    endUserEmail: EMAIL,
  });
});

test('models.list lists the models', async () => {
  const { event } = recorded(1);
  const { body } = await world.call(listModels, {});

  expect(event.headers).toMatchObject({ accept: 'application/json' });
  expect(body).toMatchObject({
    object: 'list',
    data: expect.arrayContaining([expect.objectContaining({ id: 'xQI3Pro' })]),
  });
});

test('the retry of images.generate collects what the first call was told to wait for', async () => {
  const [first, second] = [recorded(2), recorded(3)];
  expect([first.retry, second.retry]).toEqual([0, 1]);
  const { requestId, status } = await calls.make(first.text, { retry: first.retry });
  calls.succeed(requestId);

  const { body } = await calls.make(second.text, { retry: second.retry });

  expect([status, body.data]).toEqual([408, [{ url: expect.stringContaining(requestId) }]]);
  expect(executions.started).toHaveLength(1);
});

test.each([
  ['bytes', 4, 1],
  ['files with names', 5, 2],
])('images.edit with %s makes an image of its references', async (_, index, references) => {
  const { event, retry } = recorded(index);
  const { status, requestId } = await calls.edit(event, { retry, endsAfterSeconds: 1 });

  expect(status).toBe(200);
  expect(memory.get(requestKey(requestId))?.references).toHaveLength(references);
  const uploads = [...bucket.objects].filter(([key]) => key.startsWith('uploads/'));
  expect(uploads.map(([, { contentType }]) => contentType)).toEqual(Array(references).fill('image/png'));
});
