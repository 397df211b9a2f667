import { beforeAll, expect, test } from '@jest/globals';
import { wrongFields } from './support/answers.ts';
import {
  type AnyRecord,
  type Caller,
  eventually,
  newCaller,
  sharedService,
  unique,
} from './support/client.ts';
import { balance } from './support/ledger.ts';
import { aVideo } from './support/videos.ts';

let caller: Caller;
beforeAll(async () => {
  caller = await newCaller(await sharedService());
});

/** Creates, waits for the end, and reads the record with its input. */
const made = async (path: 'generations' | 'videos', body: Record<string, unknown>) => {
  const created = await caller.post<AnyRecord>(`/v1/${path}`, body);
  expect([created.status, created.body]).toEqual([202, expect.anything()]);
  const read = () =>
    caller.get<AnyRecord & { seed?: number; input: Record<string, unknown> }>(
      `/v1/${path}/${created.body.requestId}?include=input`,
    );
  const { body: record } = await eventually(read, (answer) => /succeeded|failed/.test(answer.body.status));
  expect(record.status).toBe('succeeded');
  return record;
};
const anImage = (more: Record<string, unknown>) => ({
  ...{ model: 'xQI3Pro', prompt: unique('[delay=0]'), endUserEmail: 'ada@example.com', size: '512x512' },
  ...more,
});

test('Parameters of an image are in its input, as they were asked', async () => {
  const { input } = await made(
    'generations',
    anImage({ seed: 7, negativePrompt: ' fog ', promptExtend: false }),
  );

  expect(input).toMatchObject({ seed: 7, negativePrompt: 'fog', promptExtend: false });
});

test('Parameters of a video are in its input, and a video that has none is told as before', async () => {
  const asked = { model: 'xW3.0s', resolution: '480p', seed: 7, generateAudio: false, promptExtend: true };
  const [{ input }, plain] = await Promise.all([
    made('videos', aVideo(asked)),
    made('videos', aVideo({ model: 'xW3.0s', resolution: '480p' })),
  ]);

  expect(input).toMatchObject({ seed: 7, generateAudio: false, promptExtend: true });
  for (const name of ['seed', 'negativePrompt', 'generateAudio', 'promptExtend'])
    expect(plain.input).not.toHaveProperty(name);
});

test('The seed that the maker of a video reports is in its record', async () => {
  const { seed, input } = await made('videos', aVideo({ model: 'xW3.0sPro', generateAudio: true }));

  expect(Number.isInteger(seed)).toBe(true);
  expect(input).not.toHaveProperty('seed');
});

test('Flags in a prompt change neither the length nor the price of a video', async () => {
  const prompt = unique('[delay=0] a fox --rs 4k --dur 12');
  const { cost, prompt: shown, ...record } = await made('videos', aVideo({ model: 'xW3.0sPro', prompt }));

  expect(record).toMatchObject({ videos: [{ duration: 2, resolution: '1080p' }] });
  expect([cost, shown]).toEqual([24, prompt]);
});

test('A parameter that no route of a model takes is refused by its name, before any debit', async () => {
  const before = await balance(caller);
  const refused = async (model: string, more: Record<string, unknown>) =>
    wrongFields(await caller.post('/v1/videos', aVideo({ model, ...more })));

  // The catalog has them; the route of the local run does not.
  expect(await refused('xW3.0sPro', { seed: 1, promptExtend: false })).toEqual(['promptExtend', 'seed']);
  expect(await refused('xW2.7S', { generateAudio: true })).toEqual(['generateAudio']);
  expect(await balance(caller)).toBe(before);
});

test('A parameter is part of what an Idempotency-Key repeats', async () => {
  const headers = { 'Idempotency-Key': unique('key') };
  const body = anImage({ seed: 1 });
  const first = await caller.post<AnyRecord>('/v1/generations', body, headers);
  const again = await caller.post<AnyRecord>('/v1/generations', body, headers);
  const other = await caller.post<AnyRecord>('/v1/generations', { ...body, seed: 2 }, headers);

  expect([first.status, again.status, other.status]).toEqual([202, 202, 409]);
  expect(again.body.requestId).toBe(first.body.requestId);
});
