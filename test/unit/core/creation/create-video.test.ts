import { describe, expect, jest, test } from '@jest/globals';
import { idempotencyOf } from '../../../../core/creation/idempotency.ts';
import { MEASURING_SLOTS } from '../../../../core/creation/measured-creation.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { aVideoBody, urlsOf } from '../../builders/bodies.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, aVideoRequest, EMAIL } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { entries, executions, memory, nothingWritten } from './a-creation.ts';
import { create, discard, measuring } from './a-video-creation.ts';

describe('an accepted video', () => {
  test('is a queued request with every given field, priced by the second, with its execution started', async () => {
    const { request, replayed } = await create({
      resolution: '480p',
      durationSec: 7,
      ratio: '16:9',
      image: 'https://media.example.com/first.png',
      webhookUrl: 'https://hooks.example.com/',
    });

    expect(replayed).toBe(false);
    expect(request).toStrictEqual({
      kind: 'video',
      requestId: expect.stringMatching(/^vid_[0-9A-Z]{26}$/),
      accountId: ACCOUNT_ID,
      endUserId: request.requestId,
      model: 'xW3.0s',
      prompt: 'waves',
      endUserEmail: EMAIL,
      webhookUrl: 'https://hooks.example.com/',
      resolution: '480p',
      durationSec: 7,
      billedSeconds: 7,
      ratio: '16:9',
      image: 'https://media.example.com/first.png',
      referenceImages: [],
      referenceVideos: [],
      referenceAudios: [],
      unitPriceThousandths: 3_000,
      debitThousandths: 21_000,
      createdAt: NOW.toISOString(),
      retentionDays: 90,
      status: 'queued',
      assignment: { route: 'modelstudio/wan-video', number: 1 },
    });
    expect(memory.get(requestKey(request.requestId))).toMatchObject(request);
    expect(entries()).toMatchObject([{ amountThousandths: 21_000, reference: request.requestId }]);
    expect(executions.names('generation')).toEqual([request.requestId]);
  });

  test.each<[string, Record<string, unknown>, number]>([
    ['its default resolution', {}, 50_000],
    ['a cheaper resolution', { resolution: '720p' }, 30_000],
    ['a longer video', { durationSec: 10 }, 100_000],
    ['images and sounds, which cost nothing', { referenceImages: urlsOf('png', 3) }, 50_000],
  ])('is debited for %s', async (_, body, debit) => {
    expect((await create(body)).request.debitThousandths).toBe(debit);
  });

  test('is priced by the rate the operator set', async () => {
    const rate = { perSecond: { '480p': 0.001, '720p': 0.125, '1080p': 9 } };
    const facts = { settings: { model: 'xW3.0s', rate } };

    expect(await create({ resolution: '720p' }, measuring(), { facts })).toMatchObject({
      request: { unitPriceThousandths: 125, debitThousandths: 625 },
    });
  });

  test('measures nothing without reference videos', async () => {
    const measure = measuring();
    await create({ referenceImages: urlsOf('png', 3) }, measure);

    expect(measure).not.toHaveBeenCalled();
  });
});

describe('a video from reference videos', () => {
  const referenceVideos = urlsOf('mp4', 2);
  const body = { referenceVideos, resolution: '480p' };

  test('is billed for its own seconds and theirs together, rounded up', async () => {
    const measure = measuring(2.5, 3.6);

    const { request } = await create(body, measure);

    expect(measure.mock.calls).toEqual([
      [
        {
          requestId: request.requestId,
          files: referenceVideos.map((url) => ({ medium: 'video', url })),
          longestSeconds: 15,
        },
      ],
    ]);
    expect(request).toMatchObject({
      durationSec: 5,
      billedSeconds: 12,
      unitPriceThousandths: 3_000,
      debitThousandths: 36_000,
      referenceVideos,
      clips: [`clips/${request.requestId}/0.mp4`, `clips/${request.requestId}/1.mp4`],
    });
    expect(memory.get(requestKey(request.requestId))).toMatchObject({ billedSeconds: 12 });
    expect(discard).not.toHaveBeenCalled();
  });

  test('is refused when one cannot be measured, and writes nothing', async () => {
    await expect(create(body, measuring(3, 'has no duration'))).rejects.toMatchObject({
      code: 'validation_error',
      fields: { 'referenceVideos[1]': 'has no duration' },
    });
    nothingWritten();
  });

  test('is not accepted when measuring fails, and the next one can be measured', async () => {
    const failing = jest.fn(() => Promise.reject(new Error('No answer.')));

    for (let attempt = 0; attempt <= MEASURING_SLOTS; attempt++) {
      await expect(create(body, failing as never)).rejects.toThrow('No answer.');
    }
    nothingWritten();
    expect(entries()).toEqual([]);
    expect(await create(body, measuring(3, 3))).toMatchObject({ request: { billedSeconds: 11 } });
  });

  test('is refused before any debit by a route that takes less and refuses early', async () => {
    const referenceVideos = ['https://a.example/1.mp4', 'https://a.example/2.mp4'];
    const body = { referenceVideos, durationSec: 2, resolution: '480p' };
    const route = { provider: 'modelstudio', upstreamModel: 'wan3.0-video', refusesEarly: true };
    const variables = { MODEL_ROUTES: JSON.stringify({ 'xW3.0s': route }) };

    await withEnvironment(variables, () =>
      expect(create(body, measuring(8, 7.001))).rejects.toMatchObject({
        code: 'validation_error',
        fields: { referenceVideos: 'last 15.001 s together; the model takes up to 15 s' },
      }),
    );
    nothingWritten();
    await withEnvironment(variables, () =>
      expect(create(body, measuring(8, 7))).resolves.toMatchObject({ request: { billedSeconds: 17 } }),
    );
  });

  test('may be as long as the most generous of its routes takes', async () => {
    const body = { referenceVideos: urlsOf('mp4', 2), durationSec: 2, resolution: '480p' };
    const route = (upstreamModel: string, limits: object) => ({
      ...{ provider: 'modelstudio', upstreamModel, refusesEarly: true, limits },
    });
    const routes = [9, 6, undefined].map((referenceVideosSeconds, index) =>
      route(`one-${index}`, { ...(referenceVideosSeconds && { referenceVideosSeconds }) }),
    );
    const createBy = (...all: unknown[]) =>
      withEnvironment({ MODEL_ROUTES: JSON.stringify({ 'xW3.0s': all }) }, () =>
        create(body, measuring(4, 4)),
      );

    expect(await createBy(...routes.slice(0, 2))).toMatchObject({ request: { billedSeconds: 10 } });
    await expect(createBy(routes[1])).rejects.toMatchObject({ code: 'validation_error' });
    expect(await createBy(...routes.slice(1))).toMatchObject({ request: { billedSeconds: 10 } });
  });

  test('is refused for its clips before the price of their seconds', async () => {
    const account = { balanceThousandths: 15_000 };

    await expect(create(body, measuring(3, 'is no video'), { account })).rejects.toMatchObject({
      code: 'validation_error',
    });
    await expect(create(body, measuring(3, 3), { account })).rejects.toMatchObject({
      code: 'payment_required',
    });
    nothingWritten();
  });

  test('is answered with the first one when repeated, without measuring', async () => {
    const first = aVideoRequest();
    memory.put(requestKey(first.requestId), first);
    const measure = measuring('is gone', 'is gone');
    const { fingerprint } = idempotencyOf('key-1', 'POST /v1/videos', aVideoBody(body));
    const facts = { idempotencyRecord: { requestId: first.requestId, fingerprint } };

    expect(await create(body, measure, { facts })).toEqual({ request: first, replayed: true });
    expect(measure).not.toHaveBeenCalled();
    nothingWritten();
  });
});
