import { beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import type { Video, VideoCreateParams } from 'openai/resources/videos';
import { anImage } from '../../packages/media/test/images.ts';
import { type Caller, eventually, newCaller, sharedService, unique } from './support/client.ts';
import { history } from './support/ledger.ts';
import { uniqueEmail } from './support/resources.ts';

let caller: Caller;
let openai: OpenAI;
/** A caller whose creations are all refused. */
let refusedCaller: Caller;
let refused: OpenAI;
const clientOf = ({ key, service }: Caller) =>
  new OpenAI({ apiKey: key, baseURL: `${service.baseUrl}/openai/v1` });
beforeAll(async () => {
  const service = await sharedService();
  [caller, refusedCaller] = await Promise.all([newCaller(service), newCaller(service)]);
  [openai, refused] = [clientOf(caller), clientOf(refusedCaller)];
});

const user = uniqueEmail();
/** The package's types know no model of this service, and no `user`. */
const aVideo = (more: object = {}) =>
  ({
    ...{ model: 'xW3.0s', prompt: unique(), seconds: '2', size: '1280x720', user },
    ...more,
  }) as unknown as VideoCreateParams;
const made = (id: string): Promise<Video> =>
  eventually(
    () => openai.videos.retrieve(id),
    ({ status }) => status === 'completed' || status === 'failed',
  );
const debitsOf = async (id: string) =>
  (await history(caller)).filter(({ reason, reference }) => reason === 'generation' && reference === id)
    .length;

describe("Videos by OpenAI's client", () => {
  test('are created, read until they are made, downloaded, listed and deleted', async () => {
    const created = await openai.videos.create(aVideo());
    expect(created).toMatchObject({
      ...{
        id: expect.stringMatching(/^vid_/),
        object: 'video',
        model: 'xW3.0s',
        seconds: '2',
        size: '1280x720',
      },
      ...{ status: 'queued', progress: 0, error: null, completed_at: null, remixed_from_video_id: null },
    });
    const video = await made(created.id);
    expect(video).toMatchObject({ status: 'completed', progress: 100, size: '1280x720' });
    expect(video.expires_at).toBeGreaterThan(video.completed_at ?? 0);

    const file = Buffer.from(await (await openai.videos.downloadContent(created.id)).arrayBuffer());
    expect(file.toString('latin1', 4, 8)).toBe('ftyp');
    expect((await openai.videos.list()).data.map(({ id }) => id)).toContain(created.id);
    expect(await debitsOf(created.id)).toBe(1);

    const deleted = await openai.videos.delete(created.id);
    expect(deleted).toEqual({ id: created.id, object: 'video.deleted', deleted: true });
    await expect(openai.videos.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
  });

  test('begin with a picture that is sent as a file, a URL or a data URL', async () => {
    const bytes = await anImage(640, 640, 'png');
    const file = await toFile(bytes, 'a.png', { type: 'image/png' });
    const dataUrl = `data:image/png;base64,${bytes.toString('base64')}`;
    const references = [file, { image_url: dataUrl }];
    const sizes = { model: 'xW2.7S', size: '720x1280' };
    const videos = await Promise.all(
      references.map((input_reference) => openai.videos.create(aVideo({ ...sizes, input_reference }))),
    );
    const sent = await fetch(`${caller.service.baseUrl}/openai/v1/videos`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${caller.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(aVideo({ ...sizes, input_reference: dataUrl })),
    });
    const json = (await sent.json()) as Video;

    for (const { id } of [...videos, json]) expect(await made(id)).toMatchObject({ status: 'completed' });
  });

  test('of another account are not there', async () => {
    const { id } = await openai.videos.create(aVideo());
    const stranger = clientOf(refusedCaller);

    const { videos } = stranger;
    const calls = [videos.retrieve(id), videos.downloadContent(id), videos.delete(id)];
    const refused = { status: 'rejected', reason: expect.objectContaining({ status: 404 }) };
    expect(await Promise.allSettled(calls)).toEqual([refused, refused, refused]);
  });

  test('have no content before they are made, nor when they failed, which says why and is refunded', async () => {
    const slow = await openai.videos.create(aVideo({ prompt: `${unique()} [delay=60]` }));
    await expect(openai.videos.downloadContent(slow.id)).rejects.toMatchObject({ status: 404 });
    await expect(openai.videos.delete(slow.id)).rejects.toMatchObject({ status: 409 });
    const { id } = await openai.videos.create(aVideo({ prompt: `${unique()} [fail=content_policy]` }));

    expect(await made(id)).toMatchObject({ status: 'failed', error: { code: expect.any(String) } });
    await expect(openai.videos.downloadContent(id)).rejects.toMatchObject({ status: 404 });
  });

  test.each<[string, object, string, string]>([
    ['a size that the model does not make', { size: '1024x1792' }, 'size', '1280x720'],
    ['seconds beyond the model', { seconds: '60' }, 'seconds', 'from 2 to 30'],
    ['seconds that are no number', { seconds: 'long' }, 'seconds', 'whole number'],
    ['a model of images', { model: 'xQI3Pro' }, 'model', 'xW3.0s'],
    ['a model that does not exist', { model: 'sora-2' }, 'model', 'sora-2'],
    ['no picture where the model needs one', { model: 'xW2.7S' }, 'input_reference', 'required'],
    [
      'a picture that is none',
      { model: 'xW2.7S', input_reference: 'data:image/png;base64,aGVsbG8=' },
      'input_reference',
      '',
    ],
    ['an unknown parameter', { fps: 30 }, 'fps', 'known'],
    ['an empty prompt', { prompt: ' ' }, 'prompt', ''],
  ])('refuse %s', async (_, more, param, text) => {
    await expect(refused.videos.create(aVideo(more))).rejects.toMatchObject({
      ...{ status: 400, param, message: expect.stringContaining(text) },
    });
  });

  test('that are refused debit nothing', async () => {
    expect((await history(refusedCaller)).map(({ reason }) => reason)).toEqual(['topup']);
  });

  test('of a retry are those of the call before it, once', async () => {
    const body = aVideo();
    const retry = (count: number) => ({ headers: { 'X-Stainless-Retry-Count': String(count) } });
    const [first, second, other] = [
      await openai.videos.create(body),
      await openai.videos.create(body, retry(1)),
      await openai.videos.create(body),
    ];

    expect(second.id).toBe(first.id);
    expect(other.id).not.toBe(first.id);
    expect(await debitsOf(first.id)).toBe(1);
  });

  test('are listed by pages, each once: newest first, or oldest first where the order is ascending', async () => {
    const own = await newCaller(caller.service);
    const client = clientOf(own);
    const ids: string[] = [];
    for (let index = 0; index < 3; index++)
      ids.push((await client.videos.create(aVideo({ prompt: `${unique()} [fail=content_policy]` }))).id);
    const listed = (order: 'asc' | 'desc', after?: string) =>
      client.videos.list({ order, limit: 2, ...(after !== undefined && { after }) });
    // The index lags writes by a moment.
    const first = await eventually(
      () => listed('asc'),
      ({ data, has_more }) => data[0]?.id === ids[0] && data[1]?.id === ids[1] && has_more,
    );

    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect((await listed('asc', ids[1])).data.map(({ id }) => id)).toEqual(ids.slice(2));
    const all: string[] = [];
    for await (const { id } of client.videos.list({ limit: 1 })) all.push(id);
    expect(all).toEqual(ids.toReversed());
  });

  test.each([{ limit: 0 }, { limit: 101 }, { order: 'oldest' }, { after: 'img_1' }])(
    'refuse a list with %j',
    async (query) => {
      const [param] = Object.keys(query);
      await expect(openai.videos.list(query as never)).rejects.toMatchObject({ status: 400, param });
    },
  );
});

/** The bodies and queries are those of `OpenAIVideoConfig` of LiteLLM, which sends JSON without a picture, else a form. */
describe('Videos by the calls of LiteLLM', () => {
  const callAs = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${caller.service.baseUrl}/openai/v1/videos${path}`, {
      ...init,
      headers: { Authorization: `Bearer ${caller.key}`, ...init.headers },
    });
  const created = async (init: RequestInit): Promise<Video> => {
    const answer = await callAs('', { method: 'POST', ...init });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Video;
  };

  test('are created without a picture, read, downloaded by their redirect, listed and deleted', async () => {
    const { id } = await created({
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: 'xW3.0s', prompt: unique(), seconds: '2', size: '1280x720', user }),
    });
    const done = await eventually(
      async () => (await (await callAs(`/${id}`)).json()) as Video,
      ({ status }) => status === 'completed' || status === 'failed',
    );
    expect(done).toMatchObject({ id, object: 'video', status: 'completed', seconds: '2' });

    const content = await callAs(`/${id}/content?video_id=${id}`);
    expect(content.status).toBe(200);
    expect(Buffer.from(await content.arrayBuffer()).toString('latin1', 4, 8)).toBe('ftyp');
    const listed = (await (await callAs('?limit=100&order=desc')).json()) as { data: Video[] };
    expect(listed.data.map((video) => video.id)).toContain(id);
    expect(await (await callAs(`/${id}`, { method: 'DELETE' })).json()).toMatchObject({ id, deleted: true });
  });

  test('begin with a picture, in a form', async () => {
    const body = new FormData();
    const fields = { model: 'xW2.7S', prompt: unique(), seconds: '2', size: '720x1280', user };
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    const picture = new Uint8Array(await anImage(640, 640, 'png'));
    body.append('input_reference', new Blob([picture], { type: 'image/png' }), 'input_reference.png');

    expect(await made((await created({ body })).id)).toMatchObject({ status: 'completed' });
  });
});
