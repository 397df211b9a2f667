import '../builders/environment.ts';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ProviderAnswer } from '../../../core/provider-calls/providers.ts';
import { ModelArk } from '../../../providers/modelark/modelark.ts';
import { ModelStudio } from '../../../providers/modelstudio/modelstudio.ts';
import { A_CALL, patient, server } from './conformance/server.ts';

beforeEach(() => server.reset());
afterAll(() => server.close());

const ark = () => new ModelArk({ baseUrl: server.url, apiKey: 'secret-key' });
const studio = () => new ModelStudio({ baseUrl: server.url, apiKey: 'secret-key' });
const CALLS: [string, () => Promise<ProviderAnswer>, number, unknown][] = [
  [
    'a creation of ModelArk',
    () => ark().submit(A_CALL, patient()),
    400,
    { error: { code: 'Bad', message: 'why' } },
  ],
  [
    'images of ModelArk of which none was made',
    () => ark().submit(A_CALL, patient()),
    200,
    { data: [{ error: { code: 'Bad', message: 'why' } }] },
  ],
  [
    'a task of ModelArk',
    () => ark().query('task-1', patient()),
    200,
    { id: 'task-1', status: 'failed', error: { code: 'Bad', message: 'why' } },
  ],
  [
    'a creation of Model Studio',
    () => studio().submit(A_CALL, patient()),
    400,
    { code: 'Bad', message: 'why' },
  ],
  [
    'a task of Model Studio',
    () => studio().query('task-1', patient()),
    200,
    { output: { task_id: 'task-1', task_status: 'FAILED', code: 'Bad', message: 'why' } },
  ],
];

describe('the error of a provider is kept for operators', () => {
  test.each(CALLS)('of %s', async (_, call, status, body) => {
    server.answer(status, body);

    expect(await call()).toMatchObject({ kind: 'failed', upstream: { code: 'Bad', message: 'why' } });
  });

  test.each(CALLS)('of %s: cut to a line or two', async (_, call, status, body) => {
    server.answer(
      status,
      JSON.parse(
        JSON.stringify(body)
          .replaceAll('"Bad"', `"${'B'.repeat(5_000)}"`)
          .replaceAll('"why"', `"${'😀'.repeat(5_000)}"`),
      ),
    );

    expect(await call()).toMatchObject({
      upstream: { code: 'B'.repeat(100), message: '😀'.repeat(250) },
    });
  });

  test.each(CALLS)(
    'of %s: a message that is no text leaves the code readable',
    async (_, call, status, body) => {
      server.answer(status, JSON.parse(JSON.stringify(body).replaceAll('"why"', '{"deep":[1]}')));

      expect(await call()).toMatchObject({ kind: 'failed', upstream: { code: 'Bad' } });
      expect(await call()).not.toHaveProperty('upstream.message');
    },
  );
});
