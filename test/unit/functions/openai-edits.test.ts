import { PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, test } from '@jest/globals';
import { requestKey } from '../../../core/table/keys.ts';
import { handler as edit } from '../../../functions/api/edit-openai-image.ts';
import { anImage } from '../../../packages/media/test/images.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { aCaller } from '../builders/callers.ts';
import { EMAIL } from '../builders/entities.ts';
import type { ApiEvent } from '../builders/route-world.ts';
import { requestIn, useOpenAiCalls } from './openai-calls.ts';

const { memory, bucket, calls } = useOpenAiCalls();

describe('POST /openai/v1/images/edits', () => {
  /** Bytes that begin as a PNG does. */
  const paddedPng = (bytes: number): Buffer => {
    const file = Buffer.alloc(bytes);
    file.write('\x89PNG\r\n\x1a\n', 'latin1');
    return file;
  };
  const form = async (fields: [string, string | Buffer][]): Promise<ApiEvent> => {
    const data = new FormData();
    for (const [name, value] of fields) {
      if (typeof value === 'string') data.append(name, value);
      else data.append(name, new Blob([new Uint8Array(value)]), 'a.png');
    }
    const response = new Response(data);
    return {
      body: Buffer.from(await response.arrayBuffer()).toString('base64'),
      isBase64Encoded: true,
      headers: { 'content-type': response.headers.get('content-type') ?? '' },
    };
  };
  const TEXTS: [string, string][] = [
    ['model', 'xQI3Pro'],
    ['prompt', 'a lighthouse'],
    ['user', EMAIL],
  ];
  const BOUNDARY = 'b'.repeat(30);
  const UNENDED = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="n"\r\n\r\n1\r\n`;
  const send = async (event: ApiEvent) => {
    const { headers } = await aCaller(memory);
    return read(
      await edit(anApiEvent({ ...event, headers: { ...headers, ...event.headers } }), aLambdaContext()),
    );
  };

  test('stores the files as uploads of the account, and gives the provider their URLs', async () => {
    const [png, jpeg, webp] = await Promise.all([
      anImage(300, 300, 'png'),
      anImage(300, 300, 'jpeg'),
      anImage(300, 300, 'webp'),
    ]);
    const files: [string, Buffer][] = [png, jpeg, webp].map((bytes) => ['image[]', bytes]);
    const event = await form([...TEXTS, ['n', '2'], ...files]);
    const { status, requestId } = await calls.edit(event, { endsAfterSeconds: 1 });

    expect(status).toBe(200);
    const { references, images } = memory.get(requestKey(requestId)) as {
      references: string[];
      images: number;
    };
    expect(images).toBe(2);
    expect([...bucket.objects].filter(([key]) => key.startsWith('uploads/'))).toEqual([
      [expect.stringMatching(/\.png$/), expect.objectContaining({ bytes: png, contentType: 'image/png' })],
      [expect.stringMatching(/\.jpg$/), expect.objectContaining({ bytes: jpeg, contentType: 'image/jpeg' })],
      [expect.stringMatching(/\.webp$/), expect.objectContaining({ bytes: webp, contentType: 'image/webp' })],
    ]);
    expect(references).toEqual([...bucket.objects.keys()].slice(0, 3));
  });

  test('with an Idempotency-Key is one request by its files, whose URLs are new in each call', async () => {
    const { headers } = await aCaller(memory);
    const key = { headers: { ...headers, 'Idempotency-Key': 'a key' } };
    const event = async () => form([...TEXTS, ['image', paddedPng(20)]]);
    const first = await calls.edit(await event(), key);
    calls.succeed(first.requestId);

    expect(requestIn(await calls.edit(await event(), key))).toBe(first.requestId);
    const other = await form([...TEXTS, ['image', paddedPng(21)]]);
    await expect(calls.edit(other, key)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('takes files of 4 MiB', async () => {
    const event = await form([...TEXTS, ['image', paddedPng(4 * 1024 * 1024)]]);

    expect((await calls.edit(event, { endsAfterSeconds: 1 })).status).toBe(200);
  });

  test('debits nothing when a file cannot be stored', async () => {
    bucket.client.on(PutObjectCommand).rejects(new Error('no'));
    const event = await form([...TEXTS, ['image', await anImage(300, 300, 'png')]]);

    await expect(calls.edit(event)).rejects.toThrow('no');
    expect(memory.transactions).toEqual([]);
  });

  test('takes the URL of an image as text', async () => {
    const url = 'https://images.example.com/1.png';
    const { requestId } = await calls.edit(await form([...TEXTS, ['image', url]]), { endsAfterSeconds: 1 });

    expect(memory.get(requestKey(requestId))).toMatchObject({ references: [url] });
  });

  test.each<[string, [string, string | Buffer][], string]>([
    ['no image', TEXTS, 'image'],
    ['a file that is no image', [...TEXTS, ['image', Buffer.from('hello')]], 'image'],
    ['a RIFF file that is a sound', [...TEXTS, ['image', Buffer.from('RIFF\0\0\0\0WAVEfmt ')]], 'image'],
    ['more files than the model takes', [...TEXTS, ...Array(17).fill(['image[]', paddedPng(20)])], 'image'],
    ['text that is no URL', [...TEXTS, ['image', 'hello']], 'image'],
    ['a mask', [...TEXTS, ['mask', Buffer.from('hello')]], 'mask'],
    ['another file', [...TEXTS, ['file', Buffer.from('hello')]], 'file'],
    [
      'a parameter twice',
      [...TEXTS, ['image', 'https://images.example.com/1.png'], ['n', '1'], ['n', '1']],
      'n',
    ],
    ['a text as number', [...TEXTS, ['n', 'one']], 'n'],
    ['more than 4 MiB', [...TEXTS, ['image', paddedPng(4 * 1024 * 1024 + 1)]], 'image'],
  ])('refuses %s, and stores nothing', async (_, fields, param) => {
    const { status, body } = await send(await form(fields));

    expect([status, body.error.param]).toEqual([400, param]);
    expect([memory.transactions, bucket.objects.size]).toEqual([[], 0]);
  });

  test.each([0, 5])('says of a file of %i bytes that it is no image', async (bytes) => {
    const { body } = await send(await form([...TEXTS, ['image', Buffer.alloc(bytes)]]));

    expect(body.error.message).toBe("'image' must be a PNG, JPEG or WebP image");
  });

  test('takes four times as long for four times as many parts, up to all that fit', async () => {
    const part = (index: number) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${index}"\r\n\r\n\r\n`;
    /** Processor time of refusing a form of so many parts. */
    const timeOf = async (parts: number) => {
      const body = `${Array.from({ length: parts }, (_, index) => part(index)).join('')}--${BOUNDARY}--\r\n`;
      const before = process.threadCpuUsage();
      const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
      const { status } = await send({ headers, body });
      expect(status).toBe(400);
      return process.threadCpuUsage(before).user;
    };
    await timeOf(10_000);
    const [some, most] = [await timeOf(10_000), await timeOf(40_000)];

    expect(most / some).toBeLessThan(9);
  });

  test('stores nothing for a call that is refused for the balance', async () => {
    const event = await form([...TEXTS, ['image', await anImage(300, 300, 'png')]]);
    const { headers } = await aCaller(memory, { account: { balanceThousandths: 0 } });
    const whole = anApiEvent({ ...event, headers: { ...event.headers, ...headers } });
    const { status } = read(await edit(whole, aLambdaContext()));

    expect([status, bucket.objects.size]).toEqual([429, 0]);
  });

  test.each([
    ['another type', { headers: { 'content-type': 'text/plain' }, body: '{}' }],
    ['no boundary', { headers: { 'content-type': 'multipart/form-data; x=y' }, body: 'x' }],
    ['no end', { headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }, body: UNENDED }],
    [
      'too much',
      { headers: { 'content-type': 'multipart/form-data; boundary=b' }, body: 'x'.repeat(5_000_000) },
    ],
  ])('refuses a body of %s', async (_, event) => {
    const { status, body } = await send(event);

    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', null]);
  });
});
