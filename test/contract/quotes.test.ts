import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aVideo as aClip } from '../../packages/media/test/videos.ts';
import { refusal } from './support/answers.ts';
import { newCaller, unique } from './support/client.ts';
import { type ClipServer, startClipServer } from './support/clip-server.ts';
import { history } from './support/ledger.ts';
import { uniqueEmail } from './support/resources.ts';
import { useCaller } from './support/use-caller.ts';
import { anUnfilmedVideo, createVideo } from './support/videos.ts';

const caller = useCaller();
let clips: ClipServer;
beforeAll(async () => {
  clips = await startClipServer({ '3.mp4': await aClip({ seconds: 3, framesPerSecond: 20 }) });
});
afterAll(() => clips.close());

const IMAGE = { model: 'xZI1.0Pro', size: '1K', prompt: unique(), endUserEmail: uniqueEmail() };
const quote = (body: object, by = caller) => by.post<Record<string, unknown>>('/v1/quotes', body);

test('A quote of a video with a clip is what its creation is debited, and leaves nothing', async () => {
  const video = anUnfilmedVideo({ model: 'xW3.0s', durationSec: 2, referenceVideos: [clips.urlOf('3.mp4')] });
  const kept = async () => [await history(caller), (await caller.get('/v1/balance')).body];
  const before = await kept();

  const { status, body } = await quote({ kind: 'video', ...video });

  expect(await kept()).toEqual(before);
  expect([status, body]).toEqual([200, expect.objectContaining({ covered: true, budgets: [] })]);
  expect((await createVideo(caller, video)).status).toBe(202);
  const debits = (await history(caller)).filter(({ reason }) => reason === 'generation');
  expect(debits[0]?.amount).toBe(body.xTokens);
});

test('A quote says what a budget of the end-user leaves', async () => {
  const endUserEmail = uniqueEmail();
  await caller.post('/v1/generations', { ...IMAGE, endUserEmail });
  const budget = await fetch(
    `${caller.service.baseUrl}/v1/end-users/${encodeURIComponent(endUserEmail)}/budget`,
    {
      method: 'PUT',
      headers: { authorization: `Bearer ${caller.key}` },
      body: JSON.stringify({ perDay: 1.5 }),
    },
  );
  expect(budget.status).toBe(200);

  const { body } = await quote({ kind: 'image', ...IMAGE, endUserEmail });

  expect(body).toMatchObject({
    ...{ xTokens: 1, covered: false },
    budgets: [{ of: 'endUser', per: 'day', limit: 1.5 }],
  });
  expect(refusal(await caller.post('/v1/generations', { ...IMAGE, endUserEmail }))).toEqual([
    402,
    'payment_required',
  ]);
});

test('A quote that nothing would have to be measured for is answered without a balance', async () => {
  const poor = await newCaller(caller.service, 0);

  expect((await quote({ kind: 'image', ...IMAGE }, poor)).body).toEqual({
    ...{ xTokens: 1, balance: 0, covered: false, budgets: [] },
  });
});
