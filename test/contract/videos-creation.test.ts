import { describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { itemsNaming } from './support/aws.ts';
import { newCaller, unique } from './support/client.ts';
import { balance, entriesOf, history } from './support/ledger.ts';
import { endUserOf, endUserPath, uniqueEmail } from './support/resources.ts';
import { useCaller } from './support/use-caller.ts';
import { anUnfilmedVideo, createVideo, VIDEO_MODELS, videoPath } from './support/videos.ts';

const caller = useCaller();

const create = (body: Record<string, unknown>) => createVideo(caller, anUnfilmedVideo(body));

describe('An accepted creation of a video', () => {
  test('is answered with 202, the queued record, Location and Retry-After', async () => {
    const [model] = VIDEO_MODELS;
    const prompt = unique('[fail=content_policy]');

    const { status, headers, body } = await create({ model, prompt, endUserEmail: 'Ada@Example.com' });

    const { requestId } = body;
    const pollUrl = caller.service.baseUrl + videoPath(requestId);
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(pollUrl);
    expect(headers.get('retry-after')).toBe('5');
    expect(requestId).toMatch(/^vid_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    expect(body).toEqual({
      requestId,
      model,
      status: 'queued',
      prompt,
      endUserEmail: 'ada@example.com',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      pollUrl,
    });
  });

  // Prices are tested in test/unit/core/models/rates.test.ts.
  test.each<[string, Record<string, unknown>, number]>([
    ['xW2.7S', { durationSec: undefined, resolution: undefined }, 40],
    ['xW3.0sPro', { resolution: '4k', durationSec: 30 }, 1200],
  ])(
    'with %s and %j is debited %d, its seconds at the rate of its resolution',
    async (model, body, debit) => {
      const answer = await create({ model, ...body });

      expect(answer.status).toBe(202);
      expect((await entriesOf(caller, answer.body.requestId)).at(-1)).toEqual(['generation', debit]);
    },
  );
});

describe('A refused creation of a video writes nothing', () => {
  test('when refused for its fields, its end-user or its balance', async () => {
    const poor = await newCaller(caller.service, 23.999);
    const [email, blocked] = [uniqueEmail(), uniqueEmail()];
    await createVideo(caller, anUnfilmedVideo({ endUserEmail: blocked }));
    await caller.post(`${endUserPath(blocked)}/block`, undefined);
    const before = { balance: await balance(poor), history: await history(poor) };

    const answers = [
      await createVideo(poor, anUnfilmedVideo({ endUserEmail: email, durationSec: 31 })),
      await createVideo(poor, anUnfilmedVideo({ endUserEmail: email })),
      await createVideo(caller, anUnfilmedVideo({ endUserEmail: blocked })),
    ];

    expect(answers.map(refusal)).toEqual([
      [400, 'validation_error'],
      [402, 'payment_required'],
      [403, 'forbidden'],
    ]);
    expect({ balance: await balance(poor), history: await history(poor) }).toEqual(before);
    expect(await itemsNaming(poor.service, email)).toEqual([]);
    expect(await endUserOf(caller, blocked)).toMatchObject({ totalRequests: 1 });
  });
});

describe('A creation of a video with an Idempotency-Key', () => {
  test('is 409 with another body, and for an image', async () => {
    const body = anUnfilmedVideo();
    const key = { 'idempotency-key': unique() };
    const first = await createVideo(caller, body, key);

    const other = await createVideo(caller, { ...body, durationSec: 3 }, key);
    const { prompt, endUserEmail } = body;
    const image = await caller.post('/v1/generations', { model: 'xZI1.0Pro', prompt, endUserEmail }, key);

    expect(first.status).toBe(202);
    expect([refusal(other), refusal(image)]).toEqual(Array(2).fill([409, 'conflict']));
    expect((await createVideo(caller, body, key)).body).toEqual(first.body);
  });
});
