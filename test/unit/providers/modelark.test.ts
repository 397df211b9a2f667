import '../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import type { ProviderAnswer } from '../../../core/providers.ts';
import { ModelArk } from '../../../providers/modelark/modelark.ts';
import { anImageRequest } from '../builders/entities.ts';
import { A_CALL, describeUnansweredCreations, FAILURE, patient, server } from '../builders/provider-suite.ts';

const error = (code: string) => ({
  error: { code, message: 'In detail. Request id: 02', type: 'BadRequest', param: '' },
});
describeUnansweredCreations(ModelArk, error);

const ark = () => new ModelArk({ baseUrl: server.url, apiKey: 'secret-key' });
const submit = () => ark().submit(A_CALL, patient());
const url = (name: string) => `https://ark.example.com/${name}.jpeg`;
const blocked = { error: { code: 'OutputImageSensitiveContentDetected', message: 'blocked' } };
const broken = { error: { code: 'InternalServiceError', message: 'broke' } };

describe('images of ModelArk', () => {
  test('are planned as its wire format says', () => {
    expect(ark().planImages(anImageRequest({ images: 2 }), 'seedream')).toMatchObject({
      mode: 'synchronous',
      calls: [{ path: '/images/generations' }, { path: '/images/generations' }],
    });
  });

  test.each<[string, unknown[], ProviderAnswer]>([
    [
      'one',
      [{ url: url('a'), size: '2048x2048', output_format: 'jpeg' }],
      { kind: 'done', outputs: [{ url: url('a') }] },
    ],
    [
      'several',
      [{ url: url('a') }, { url: url('b') }],
      { kind: 'done', outputs: [{ url: url('a') }, { url: url('b') }] },
    ],
    [
      'some, in their order, with what the others failed with',
      [blocked, { url: url('b') }, broken],
      {
        kind: 'done',
        outputs: [{ failure: FAILURE.content }, { url: url('b') }, { failure: FAILURE.error }],
      },
    ],
    [
      'none, for a content decision among others',
      [broken, blocked],
      { kind: 'failed', failure: FAILURE.content },
    ],
    ['none, for an error', [broken], { kind: 'failed', failure: FAILURE.error }],
    ['none, for no reason', [], { kind: 'failed', failure: FAILURE.error }],
  ])('come as %s', async (_, data, answer) => {
    server.answer(200, {
      model: 'seedream',
      created: 1_795_000_000,
      data,
      usage: { generated_images: 1, output_tokens: 16_384, total_tokens: 16_384 },
    });

    expect(await submit()).toEqual(answer);
  });

  test.each([
    ['beside an empty list', { data: [] }],
    ['alone', {}],
  ])('come as none with a reason for the whole call, %s', async (_, rest) => {
    server.answer(200, { model: 'seedream', ...rest, ...blocked });

    expect(await submit()).toEqual({ kind: 'failed', failure: FAILURE.content });
  });

  test('that come in another form than asked for are lost: nobody can fetch them', async () => {
    server.answer(200, { data: [{ b64_json: 'AAAA' }] });

    expect(await submit()).toEqual({ kind: 'lost', failure: FAILURE.lost });
  });

  test.each<[number, string, ProviderAnswer]>([
    [400, 'InputTextSensitiveContentDetected', { kind: 'failed', failure: FAILURE.content }],
    [400, 'InvalidParameter', { kind: 'failed', failure: FAILURE.error }],
    [401, 'AuthenticationError', { kind: 'failed', failure: FAILURE.access }],
    [404, 'ModelNotOpen', { kind: 'failed', failure: FAILURE.access }],
    [429, 'QuotaExceeded', { kind: 'failed', failure: FAILURE.access }],
    [429, 'ServerOverloaded', { kind: 'busy', reason: 'modelark answered ServerOverloaded.' }],
    [500, 'InternalServiceError', { kind: 'failed', failure: FAILURE.error }],
  ])('are refused with %p %s', async (status, code, answer) => {
    server.answer(status, error(code));

    expect(await submit()).toEqual(answer);
    expect(server.requests).toHaveLength(1);
  });

  test('have no task to ask for', async () => {
    await expect(ark().query()).rejects.toThrow('there is no task to query');
  });

  test('never show the words of the provider to a caller', async () => {
    server.answer(400, error('InvalidParameter'));

    expect(JSON.stringify(await submit())).not.toMatch(/In detail|Request id|InvalidParameter/);
  });
});
