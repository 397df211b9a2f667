import { PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, test } from '@jest/globals';
import { accountKey, endUserKey, requestKey } from '../../../core/table/keys.ts';
import { handler as edit } from '../../../functions/api/edit-openai-image.ts';
import { anImage } from '../../../packages/media/test/images.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { aCaller } from '../builders/callers.ts';
import { NOW } from '../builders/clocks.ts';
import { ACCOUNT_ID, anEndUser, EMAIL } from '../builders/entities.ts';
import type { ApiEvent } from '../builders/route-world.ts';
import { requestIn, useOpenAiCalls } from './openai-calls.ts';

const { memory, bucket, calls } = useOpenAiCalls();
const PNG = await anImage(300, 300, 'png');

describe('POST /openai/v1/images/edits', () => {
  /** A PNG of so many bytes, of which the last are not its own. */
  const paddedPng = (bytes: number): Buffer => Buffer.concat([PNG, Buffer.alloc(bytes - PNG.length)]);
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
    const event = async () => form([...TEXTS, ['image', paddedPng(3_000)]]);
    const first = await calls.edit(await event(), key);
    calls.succeed(first.requestId);

    expect(requestIn(await calls.edit(await event(), key))).toBe(first.requestId);
    const other = await form([...TEXTS, ['image', paddedPng(3_001)]]);
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
    [
      'more files than the model takes',
      [...TEXTS, ...Array(17).fill(['image[]', paddedPng(3_000)])],
      'image',
    ],
    ['text that is no URL', [...TEXTS, ['image', 'hello']], 'image'],
    ['a mask', [...TEXTS, ['mask', Buffer.from('hello')]], 'mask'],
    ['another file', [...TEXTS, ['file', Buffer.from('hello')]], 'file'],
    ['a file as a size', [...TEXTS, ['size', Buffer.from('2K')]], 'size'],
    ['a file as a hint', [...TEXTS, ['quality', Buffer.from('high')]], 'quality'],
    ['a file as the user', [...TEXTS.slice(0, 2), ['user', Buffer.from(EMAIL)]], 'user'],
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

    expect(body.error.message).toBe("'image' is not an image that can be read");
  });

  test.each([
    ['plain', BOUNDARY],
    ['quoted', `"${BOUNDARY}"`],
  ])('counts the parts of a form before it reads them, with a %s boundary', async (_, boundary) => {
    const image = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n\xff\xd8\xff\r\n`;
    const sent = async (parts: number) => {
      // Not a whole form: read, it is refused as such.
      const body = Buffer.from(image.repeat(parts), 'latin1').toString('base64');
      const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
      return (await send({ headers, body, isBase64Encoded: true })).body.error;
    };

    expect(await sent(60)).toMatchObject({ param: 'image', message: "'image' must be at most 10" });
    expect(await sent(20)).toMatchObject({ param: null, message: expect.stringContaining('whole') });
  });

  describe('that is refused when its files are stored', () => {
    const stored = () => [...bucket.objects.keys()];
    const event = async () => form([...TEXTS, ['image[]', paddedPng(3_000)], ['image[]', paddedPng(3_001)]]);
    const refusals: [string, string, () => void][] = [
      [
        'for a budget',
        'payment_required',
        () => memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser({ budget: { perDayThousandths: 0 } })),
      ],
      [
        'for an end-user that was blocked meanwhile',
        'forbidden',
        () => memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser({ blockedAt: NOW.toISOString() })),
      ],
      [
        'for an account that was blocked meanwhile',
        'account_blocked',
        () => memory.patch(accountKey(ACCOUNT_ID), { blockedAt: NOW.toISOString(), settingsVersion: 9 }),
      ],
      [
        'for a balance that others took',
        'payment_required',
        () => memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 0, ledgerEntries: 7 }),
      ],
    ];

    test.each(refusals)('%s, removes them', async (_, code, meanwhile) => {
      let most = 0;
      memory.beforeTransaction = (attempt) => {
        most = stored().length;
        if (attempt === 1) meanwhile();
      };

      await expect(calls.edit(await event())).rejects.toMatchObject({ code });
      expect([most, stored()]).toEqual([2, []]);
    });

    test('by the lost race for an Idempotency-Key, removes those of the loser', async () => {
      const { headers } = await aCaller(memory);
      const key = { headers: { ...headers, 'Idempotency-Key': 'a key' } };
      memory.beforeTransaction = async (attempt) => {
        if (attempt === 1) await calls.edit(await event(), key);
      };
      await calls.edit(await event(), key);

      expect(stored()).toHaveLength(2);
    });

    test('by a retry that took its place, removes them', async () => {
      memory.beforeTransaction = async (attempt) => {
        if (attempt === 1) await calls.edit(await event(), { retry: 1, endsAfterSeconds: 3 });
      };
      const first = await calls.edit(await event());

      expect([first.status, stored().filter((key) => key.startsWith('uploads/')).length]).toEqual([408, 2]);
    });

    test('and may have been written, keeps them', async () => {
      const { headers } = await aCaller(memory);
      memory.afterTransaction = () => {
        memory.beforeCall = () => {
          throw new Error('no table');
        };
        throw new Error('lost');
      };
      const key = { headers: { ...headers, 'Idempotency-Key': 'a key' } };
      await expect(calls.edit(await event(), key)).rejects.toThrow('may have been created');

      expect(stored()).toHaveLength(2);
    });

    test('by a file that could not be stored, removes the others', async () => {
      bucket.client.on(PutObjectCommand).rejectsOnce(new Error('no'));

      await expect(calls.edit(await event())).rejects.toThrow('no');
      expect(stored()).toEqual([]);
    });
  });

  test('stores nothing for a call that is refused for the balance', async () => {
    const event = await form([...TEXTS, ['image', await anImage(300, 300, 'png')]]);
    const { headers } = await aCaller(memory, { account: { balanceThousandths: 0 } });
    const whole = anApiEvent({ ...event, headers: { ...event.headers, ...headers } });
    const { status } = read(await edit(whole, aLambdaContext()));

    expect([status, bucket.objects.size]).toEqual([429, 0]);
  });

  test.each([
    ['hides the boundary behind another', `more="; boundary=none"; boundary=${BOUNDARY}`],
    ['escapes the boundary', `boundary="${BOUNDARY.slice(1)}\\b"`],
  ])('refuses a form whose content type %s, as its parts are counted by another', async (_, parameters) => {
    const body = `${UNENDED.repeat(60)}--${BOUNDARY}--\r\n`;
    const { body: answer } = await send({
      headers: { 'content-type': `multipart/form-data; ${parameters}` },
      body,
    });

    expect(answer.error).toMatchObject({ param: null, message: expect.stringContaining('boundary') });
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
