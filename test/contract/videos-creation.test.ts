import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal, wrongFields } from './support/answers.ts';
import { itemsNaming } from './support/aws.ts';
import { type Caller, newCaller, sharedService, unique } from './support/client.ts';
import { balance, entriesOf, history } from './support/ledger.ts';
import { endUserOf, endUserPath, uniqueEmail } from './support/resources.ts';
import { anUnfilmedVideo, createVideo, VIDEO_MODELS, videoPath } from './support/videos.ts';

let caller: Caller;
beforeAll(async () => {
  caller = await newCaller(await sharedService());
});

const create = (body: Record<string, unknown>) => createVideo(caller, anUnfilmedVideo(body));
const IMAGE = 'https://example.com/a.png';
const urls = (count: number) => Array.from({ length: count }, (_, i) => `https://example.com/${i}`);

describe('An accepted creation of a video', () => {
  test.each(VIDEO_MODELS)(
    'with %s is answered with 202, the queued record, Location and Retry-After',
    async (model) => {
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
    },
  );

  const DEFAULTS = { durationSec: undefined, resolution: undefined };
  test.each([
    ['xW2.7S', DEFAULTS, 40],
    ['xW2.7S', { resolution: '720p', durationSec: 3 }, 15],
    ['xW2.7S', { resolution: '1080p', durationSec: 15 }, 120],
    ['xW3.0s', DEFAULTS, 50],
    ['xW3.0s', { resolution: '480p', durationSec: 2 }, 6],
    ['xW3.0s', { resolution: '720p', durationSec: 30 }, 180],
    ['xW3.0sPro', DEFAULTS, 60],
    ['xW3.0sPro', { resolution: '2k', durationSec: 2 }, 40],
    ['xW3.0sPro', { resolution: '4k', durationSec: 30 }, 1200],
    // Options that cost nothing extra.
    ['xW3.0sPro', { ratio: '9:16', referenceImages: urls(10), referenceAudios: urls(5) }, 24],
  ])(
    'with %s and %j is debited %d, its seconds at the rate of its resolution',
    async (model, body, debit) => {
      const answer = await create({ model, ...body });

      expect(answer.status).toBe(202);
      expect((await entriesOf(caller, answer.body.requestId)).at(-1)).toEqual(['generation', debit]);
    },
  );
});

describe('A video model accepts what its catalog entry says', () => {
  test.each([
    ['xW2.7S', 2, 15],
    ['xW3.0s', 2, 30],
    ['xW3.0sPro', 2, 30],
  ])('%s accepts from %i to %i whole seconds', async (model, least, most) => {
    for (const durationSec of [least - 1, most + 1]) {
      expect(wrongFields(await create({ model, durationSec }))).toEqual(['durationSec']);
    }
    expect((await create({ model, durationSec: least })).status).toBe(202);
    expect((await create({ model, durationSec: most })).status).toBe(202);
  });

  test.each([[0], [-5], [2.5], ['5'], [true], [null]])(
    'no model accepts the durationSec %j',
    async (durationSec) => {
      expect(wrongFields(await create({ durationSec }))).toEqual(['durationSec']);
    },
  );

  test.each([
    ['xW2.7S', ['480p', '2k', '4k', '720P', '']],
    ['xW3.0s', ['2k', '4k', '1080', '1080P']],
    ['xW3.0sPro', ['480p', '720p', '2K', '4K']],
  ])('%s accepts none of the resolutions %j', async (model, resolutions) => {
    for (const resolution of resolutions) {
      expect(wrongFields(await create({ model, resolution }))).toEqual(['resolution']);
    }
  });

  test.each(['adaptive', '16:9', '4:3', '1:1', '3:4', '9:16'])(
    'xW3.0s accepts the ratio %s',
    async (ratio) => {
      expect((await create({ model: 'xW3.0s', ratio })).status).toBe(202);
    },
  );

  test.each(['21:9', '16x9', '1', 'auto', ''])(
    'xW3.0s and xW3.0sPro do not accept the ratio %j',
    async (ratio) => {
      expect(wrongFields(await create({ model: 'xW3.0s', ratio }))).toEqual(['ratio']);
      expect(wrongFields(await create({ model: 'xW3.0sPro', ratio }))).toEqual(['ratio']);
    },
  );

  test('xW2.7S requires an image and accepts no other input', async () => {
    expect((await create({ model: 'xW2.7S', image: IMAGE })).status).toBe(202);
    expect(wrongFields(await create({ model: 'xW2.7S', image: undefined }))).toEqual(['image']);
    const others = {
      ...{ lastFrame: IMAGE, ratio: 'adaptive' },
      ...{ referenceImages: urls(1), referenceVideos: urls(1), referenceAudios: urls(1) },
    };
    expect(wrongFields(await create({ model: 'xW2.7S', ...others }))).toEqual(Object.keys(others).sort());
  });

  test.each(['xW3.0s', 'xW3.0sPro'])(
    '%s accepts a first frame, and a last frame only with it',
    async (model) => {
      expect((await create({ model, image: IMAGE })).status).toBe(202);
      expect((await create({ model, image: IMAGE, lastFrame: IMAGE })).status).toBe(202);
      expect(wrongFields(await create({ model, lastFrame: IMAGE }))).toEqual(['lastFrame']);
    },
  );

  test.each([
    ['xW3.0s', 'referenceImages', 10],
    ['xW3.0s', 'referenceAudios', 5],
    ['xW3.0sPro', 'referenceImages', 10],
    ['xW3.0sPro', 'referenceAudios', 5],
  ])('%s limits %s to %i', async (model, field, most) => {
    expect((await create({ model, [field]: urls(most) })).status).toBe(202);
    expect(wrongFields(await create({ model, [field]: urls(most + 1) }))).toEqual([field]);
  });

  test('xW3.0s and xW3.0sPro limit reference videos to 5, before fetching any', async () => {
    for (const model of ['xW3.0s', 'xW3.0sPro']) {
      expect(wrongFields(await create({ model, referenceVideos: urls(6) }))).toEqual(['referenceVideos']);
    }
  });

  test('every model accepts empty lists of references', async () => {
    const none = { referenceImages: [], referenceVideos: [], referenceAudios: [] };

    for (const model of VIDEO_MODELS) expect((await create({ model, ...none })).status).toBe(202);
  });
});

describe('An invalid creation of a video', () => {
  test.each(['xSD4.5', 'xW3', 'xw3.0s', 'toString', '', 1, null])(
    'is refused with the model %j',
    async (model) => {
      expect(wrongFields(await create({ model }))).toEqual(['model']);
    },
  );

  test('is refused for every required field when it is empty', async () => {
    expect(wrongFields(await createVideo(caller, {}))).toEqual(['endUserEmail', 'model', 'prompt']);
    expect(wrongFields(await createVideo(caller, { model: 'xW2.7S' }))).toEqual([
      ...['endUserEmail', 'image', 'prompt'],
    ]);
  });

  test('is refused with each wrong URL named', async () => {
    const frames = await create({
      image: 'http://example.com/a.png',
      lastFrame: 'data:image/png;base64,AAAA',
      webhookUrl: 'example.com',
    });
    const references = await create({
      referenceImages: [IMAGE, 'ftp://example.com/a.png', 3],
      referenceVideos: ['https://ada@example.com/a.mp4', 'http://10.0.0.1/a.mp4'],
      referenceAudios: 'https://example.com/a.mp3',
    });

    expect(wrongFields(frames)).toEqual(['image', 'lastFrame', 'webhookUrl']);
    expect(wrongFields(references)).toEqual([
      ...['referenceAudios', 'referenceImages[1]', 'referenceImages[2]'],
      ...['referenceVideos[0]', 'referenceVideos[1]'],
    ]);
  });

  test('is refused with every wrong field named at once', async () => {
    const answer = await createVideo(caller, {
      model: 'xW2.7S',
      prompt: ' ',
      durationSec: 16,
      resolution: '480p',
      ratio: '16:9',
      lastFrame: IMAGE,
      referenceImages: urls(1),
      referenceAudios: 7,
      n: 1,
      size: '1K',
    });

    expect(wrongFields(answer)).toEqual(
      [
        ...['prompt', 'endUserEmail', 'durationSec', 'resolution', 'ratio', 'image', 'lastFrame'],
        ...['referenceImages', 'referenceAudios', 'n', 'size'],
      ].sort(),
    );
  });

  test.each([null, true, {}])('is refused for an optional field that is %j', async (value) => {
    const optional = [
      ...['resolution', 'durationSec', 'image', 'lastFrame', 'ratio', 'webhookUrl'],
      ...['referenceImages', 'referenceVideos', 'referenceAudios'],
    ];

    const answer = await create(Object.fromEntries(optional.map((name) => [name, value])));

    expect(wrongFields(answer)).toEqual(optional.sort());
  });

  test('may be a body that is not JSON, or a query parameter', async () => {
    expect(refusal(await createVideo(caller, '{"model":'))).toEqual([400, 'validation_error']);
    const answer = await caller.post('/v1/videos?wait=1', anUnfilmedVideo());
    expect(wrongFields(answer)).toEqual(['wait']);
  });
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
      await createVideo(caller, anUnfilmedVideo({ endUserEmail: blocked, ratio: '2:1' })),
    ];

    expect(answers.map(refusal)).toEqual([
      [400, 'validation_error'],
      [402, 'payment_required'],
      [403, 'forbidden'],
      [400, 'validation_error'],
    ]);
    expect({ balance: await balance(poor), history: await history(poor) }).toEqual(before);
    expect(await itemsNaming(poor.service, email)).toEqual([]);
    expect(await endUserOf(caller, blocked)).toMatchObject({ totalRequests: 1 });
  });

  test('and an unblocked end-user can create again', async () => {
    const email = uniqueEmail();
    await create({ endUserEmail: email });
    await caller.post(`${endUserPath(email)}/block`, undefined);
    expect(refusal(await create({ endUserEmail: email }))).toEqual([403, 'forbidden']);

    await caller.post(`${endUserPath(email)}/unblock`, undefined);

    expect((await create({ endUserEmail: email })).status).toBe(202);
  });
});

describe('A creation of a video with an Idempotency-Key', () => {
  const isReplayed = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed');

  test('sent five times at once creates one request and one debit', async () => {
    const email = uniqueEmail();
    const body = anUnfilmedVideo({ endUserEmail: email });
    const key = { 'idempotency-key': unique() };

    const answers = await Promise.all(Array.from({ length: 5 }, () => createVideo(caller, body, key)));

    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(202));
    expect(answers.map(isReplayed).sort()).toEqual([null, ...Array(4).fill('true')].sort());
    const [{ requestId = '' } = {}, ...others] = answers.map((answer) => answer.body);
    expect(others.map((other) => other.requestId)).toEqual(Array(4).fill(requestId));
    expect((await entriesOf(caller, requestId)).at(-1)).toEqual(['generation', 24]);
    expect(await endUserOf(caller, email)).toMatchObject({ totalRequests: 1 });
  });

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
