import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Fal } from '../../../providers/fal/fal.ts';
import { falErrorOf, readFalResult } from '../../../providers/fal/results.ts';
import type { HttpAnswer } from '../../../providers/http.ts';
import { A_CALL, answerWith, FAILURE, meaningOf, patient, server } from './conformance/server.ts';

beforeEach(() => server.reset());
afterAll(() => server.close());

const answered = (status: number, body: unknown, more: object = {}): HttpAnswer => ({
  ...{ kind: 'answered', status, body },
  ...more,
});
const fal = () => new Fal({ baseUrl: server.url, apiKey: 'secret-key' });

describe('the error in an answer of fal', () => {
  const one = (type: string, more: object = {}) => ({
    type,
    msg: `${type}!`,
    loc: ['body', 'prompt'],
    ...more,
  });

  test.each<[string, HttpAnswer, object | undefined]>([
    [
      'a content decision, of several',
      answered(422, { detail: [one('missing'), one('content_policy_violation')] }),
      { code: 'content_policy_violation', message: 'content_policy_violation!', at: 'prompt', isCoded: true },
    ],
    [
      'the first of several',
      answered(422, { detail: [one('missing', { loc: ['body', 'image_urls', 1] }), one('value_error')] }),
      { code: 'missing', message: 'missing!', at: 'image_urls[1]', isCoded: true },
    ],
    [
      'one whose place cannot be read',
      answered(422, { detail: [one('missing', { loc: 'body', msg: null })] }),
      { code: 'missing', at: '', isCoded: true },
    ],
    [
      'one of the platform, with its detail',
      answered(500, { error_type: 'internal_error', detail: 'd', error: 'e' }),
      { code: 'internal_error', message: 'd', isCoded: true },
    ],
    [
      'one of the platform, with its text',
      answered(500, { error_type: 'internal_error', error: 'e' }),
      { code: 'internal_error', message: 'e', isCoded: true },
    ],
    [
      'one of a header, with the words of the body',
      answered(503, { detail: 'd' }, { errorType: 'runner_disconnected' }),
      { code: 'runner_disconnected', message: 'd', isCoded: true },
    ],
    ['words alone', answered(418, { detail: 'd' }), { code: 'HTTP 418', message: 'd', isCoded: false }],
    ['none in an empty list', answered(422, { detail: [] }), undefined],
    ['none in empty words', answered(418, { detail: '' }), undefined],
    ['none of a gateway', answered(502, undefined), undefined],
    ['none without an answer', { kind: 'timed-out' }, undefined],
  ])('is %s', (_, answer, error) => {
    expect(falErrorOf(answer)).toEqual(error);
  });
});

describe('the result of fal', () => {
  const coded = { error_type: 'internal_error' };

  test.each([401, 402, 403, 429])('says nothing of the task with status %i, whatever its body', (status) => {
    expect(readFalResult(answered(status, coded)).kind).not.toBe('failed');
  });

  test.each<[string, number, object | undefined, string]>([
    ['a code of fal', 400, coded, 'failed'],
    ['a code of fal, with a success', 200, coded, 'failed'],
    ['words, with a success', 299, { detail: 'no' }, 'failed'],
    ['words, with a redirect', 300, { detail: 'no' }, 'refused'],
    ['words, with 422', 422, { detail: 'no' }, 'failed'],
    ['words, with 421', 421, { detail: 'no' }, 'refused'],
    ['words, with a broken server', 500, { detail: 'no' }, 'busy'],
    ['that it still runs', 400, { detail: 'The request is STILL IN PROGRESS.' }, 'busy'],
    ['another success', 204, undefined, 'refused'],
  ])('with %s means: %i %j %s', (_, status, body, kind) => {
    expect(readFalResult(answered(status, body))).toMatchObject({ kind });
  });

  test('is read again after Retry-After', () => {
    expect(readFalResult(answered(503, undefined, { retryAfterSeconds: 7 }))).toEqual({
      ...{ kind: 'busy', reason: 'the result was answered with 503', retryAfterSeconds: 7 },
    });
  });

  test.each<[object, object]>([
    [{ video: 'https://a' }, { outputs: [{ url: 'https://a' }] }],
    [{ video: { url: 'https://a' }, images: ['https://b'] }, { outputs: [{ url: 'https://a' }] }],
    [{ video: { url: 'https://a' }, duration: 5 }, { usage: { outputSeconds: 5 } }],
    [{ video: { url: 'https://a', duration: 4 } }, { usage: { outputSeconds: 4 } }],
    [{ video: { url: 'https://a', duration: 4 }, duration: 5 }, { usage: { outputSeconds: 5 } }],
    [
      { images: ['https://a', { url: 'https://b' }] },
      { outputs: [{ url: 'https://a' }, { url: 'https://b' }] },
    ],
    [{ image: { url: 'https://a' } }, { outputs: [{ url: 'https://a' }] }],
    [{ images: ['https://a'], image: 'https://b' }, { outputs: [{ url: 'https://a' }] }],
    [{ images: ['https://a'], has_nsfw_concepts: ['true'] }, { outputs: [{ url: 'https://a' }] }],
    [{ image: 'https://a', has_nsfw_concepts: false }, { outputs: [{ url: 'https://a' }] }],
  ])('%j has its media', (body, done) => {
    expect(readFalResult(answered(200, body))).toMatchObject({ kind: 'done', ...done });
  });

  test.each([{ images: [] }, { images: null, video: null }, {}, { images: [{}] }])(
    'has failed without media: %j',
    (body) => {
      expect(readFalResult(answered(200, body))).toEqual({ kind: 'failed', failure: FAILURE.error });
    },
  );

  test('that has no video tells no seconds', () => {
    expect(readFalResult(answered(200, { images: ['https://a'], duration: 5 }))).not.toHaveProperty('usage');
    expect(readFalResult(answered(200, { video: 'https://a' }))).not.toHaveProperty('usage');
  });
});

describe('a submit to fal', () => {
  const submit = (path: string) => meaningOf(fal().submit({ ...A_CALL, path }, patient()));

  test.each([
    ['/alibaba/wan-3.0/text-to-video?fal_webhook=https%3A%2F%2Fa', 'alibaba/wan-3.0/r-1'],
    ['/fal-ai/bytedance/seedream/v4.5/edit?fal_webhook=a', 'fal-ai/bytedance/r-1'],
    ['/alibaba/z-image?fal_webhook=a', 'alibaba/z-image/r-1'],
  ])('to %s is found by its application: %s', async (path, taskId) => {
    answerWith({ status: 200, body: { request_id: 'r-1' } });

    expect(await submit(path)).toEqual({ kind: 'accepted', taskId });
  });

  test.each([
    [200, 'accepted'],
    [299, 'accepted'],
    [300, 'lost'],
    [400, 'failed'],
  ])('with status %i and an id of a request is %s', async (status, kind) => {
    answerWith({ status, body: { request_id: 'r-1' } });

    expect(await submit('/a/b/c')).toMatchObject({ kind });
  });
});

describe('the status of a request to fal', () => {
  const query = (status: number, body: unknown) => {
    answerWith({
      ...{ status: 200, body: { video: 'https://a' } },
      first: { pathEnd: '/status', answer: { status, body: body as Record<string, unknown> } },
    });
    return meaningOf(fal().query('owner/app/1', patient()));
  };

  test.each([200, 202])('is told with %i', async (status) => {
    expect(await query(status, { status: 'IN_PROGRESS' })).toEqual({ kind: 'waiting' });
    expect(await query(status, { status: 'COMPLETED' })).toMatchObject({ kind: 'done' });
    expect(await query(status, { status: 'COMPLETED', error: 'no' })).toMatchObject({ kind: 'done' });
  });

  test.each([201, 400, 410])('is not told with %i', async (status) => {
    expect(await query(status, { status: 'IN_PROGRESS' })).not.toMatchObject({ kind: 'waiting' });
  });

  test('is lost by NOT_FOUND alone, and failed by any end without a result', async () => {
    expect(await query(404, { status: 'NOT_FOUND' })).toMatchObject({ kind: 'lost' });
    expect(await query(404, { detail: 'no' })).toMatchObject({ kind: 'refused' });
    expect(await query(200, { status: 'FAILED', error: 'no' })).toMatchObject({
      ...{ kind: 'failed', upstream: { code: 'FAILED', message: 'no' } },
    });
    expect(await query(200, { status: 'COMPLETED', error_type: 'runner_disconnected' })).toMatchObject({
      ...{ kind: 'failed', upstream: { code: 'runner_disconnected' } },
    });
  });
});

describe('cancelling a request to fal', () => {
  test.each<[number, unknown, object]>([
    [202, { status: 'CANCELLATION_REQUESTED' }, { kind: 'cancelled' }],
    [202, { detail: 'In words.' }, { kind: 'cancelled' }],
    [400, { status: 'ALREADY_COMPLETED' }, { kind: 'not-cancelled', reason: 'ALREADY_COMPLETED' }],
    [400, { error_type: 'locked' }, { kind: 'not-cancelled', reason: 'locked' }],
    [400, undefined, { kind: 'not-cancelled', reason: 'HTTP 400' }],
    [302, {}, { kind: 'not-cancelled', reason: 'HTTP 302' }],
    [300, {}, { kind: 'not-cancelled', reason: 'HTTP 300' }],
  ])('with %i %j: %j', async (status, body, told) => {
    server.answer(status, body ?? '');

    expect(await fal().cancel('owner/app/1', patient())).toEqual(told);
  });
});
