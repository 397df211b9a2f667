import { clearCaches } from '@aws-lambda-powertools/parameters';
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../core/observability.ts';
import { handler, runCanary } from '../../../functions/events/run-canary.ts';
import { aLambdaContext } from '../builders/api-events.ts';
import { StoppedClock } from '../builders/clocks.ts';
import { secrets } from '../fakes/fresh-secrets.ts';
import { metricsCounted } from '../fakes/metrics.ts';
import { LoopbackServer, type ReceivedRequest } from '../servers/loopback-server.ts';

const server = await new LoopbackServer().start();
process.env.PUBLIC_BASE_URL = server.url;
afterAll(() => server.close());

const ID = 'img_01KAJ7Q0000000000000000000';
const PATH = `/v1/generations/${ID}`;
type Answer = [status: number, body: unknown, contentType?: string];
/** The service's answers: reads in turn, the last one again and again. */
let answers: Record<string, Answer[]> = {};
const failed = jest.spyOn(logger, 'error');
let clock = new StoppedClock();
const pause = async (milliseconds: number) => clock.advance(milliseconds / 1000);

beforeEach(() => {
  clearCaches();
  secrets.set('arn:canary-key', 'gsk_canary');
  server.reset();
  failed.mockClear();
  clock = new StoppedClock();
  answers = {
    'POST /v1/generations': [[202, { requestId: ID }]],
    [`GET ${PATH}`]: [
      [200, { status: 'queued' }],
      [200, { status: 'processing' }],
      [200, { status: 'succeeded', images: [{ url: `${server.url}/file.png?signed` }] }],
    ],
    'GET /file.png?signed': [[200, 'pixels', 'image/png']],
    [`DELETE ${PATH}`]: [[200, { deleted: true }]],
  };
  server.respond = ({ method, path }, response) => {
    const left = answers[`${method} ${path}`] ?? [];
    const [status, body, type = 'application/json'] = (left.length > 1 ? left.shift() : left[0]) ?? [404, {}];
    response
      .writeHead(status, { 'content-type': type })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
  };
});
const lineOf = ({ method, path }: ReceivedRequest): string => `${method} ${path}`;

describe('the canary', () => {
  test('creates an image, reads it until it is there, fetches the file, and removes it all', async () => {
    const counted = metricsCounted();

    await runCanary(clock, pause);

    expect(server.requests.map(lineOf)).toEqual([
      'POST /v1/generations',
      ...[`GET ${PATH}`, `GET ${PATH}`, `GET ${PATH}`],
      'GET /file.png?signed',
      `DELETE ${PATH}`,
    ]);
    expect(counted()).toEqual([
      ['CanarySeconds', {}, 4],
      ['CanarySucceeded', {}],
    ]);
    expect(failed).not.toHaveBeenCalled();
  });

  test('calls the API with its key, and the file without', async () => {
    await runCanary(clock, pause);

    const keys = server.requests.map(({ path, headers }) => [path, headers.authorization]);
    expect(keys.filter(([path]) => path?.startsWith('/v1/')).map(([, key]) => key)).toEqual(
      Array(5).fill('Bearer gsk_canary'),
    );
    expect(keys.filter(([path]) => path?.startsWith('/file'))).toEqual([['/file.png?signed', undefined]]);
    expect(server.requests[0]?.body).toEqual({
      model: 'xSD4.5',
      prompt: expect.any(String),
      endUserEmail: 'canary@example.com',
    });
  });

  test.each<[string, string, Answer, RegExp]>([
    ['is refused', 'POST /v1/generations', [402, {}], /answered with 402/],
    ['is refused by a page', 'POST /v1/generations', [502, '<html>', 'text/html'], /answered with 502/],
    ['has a wrong body by a page', 'POST /v1/generations', [400, '<html>', 'text/html'], /answered with 400/],
    [
      'is answered with no JSON',
      'POST /v1/generations',
      [202, 'oops'],
      /answered with 202, but not with JSON/,
    ],
    ['cannot be read', `GET ${PATH}`, [500, {}], /answered with 500/],
    [
      'fails',
      `GET ${PATH}`,
      [200, { status: 'failed', error: { code: 'provider_error' } }],
      /failed \(provider_error\)/,
    ],
    ['has no file', `GET ${PATH}`, [200, { status: 'succeeded', images: [{}] }], /no file/],
    ['never ends', `GET ${PATH}`, [200, { status: 'queued' }], /did not end in time/],
    ['has a file that is gone', 'GET /file.png?signed', [403, 'no', 'text/xml'], /403/],
    ['has an empty file', 'GET /file.png?signed', [200, '', 'image/png'], /0 bytes/],
    ['cannot be deleted', `DELETE ${PATH}`, [409, {}], /DELETE .* 409/],
  ])('has failed when its image %s', async (_, at, answer, message) => {
    const counted = metricsCounted();
    answers[at] = [answer];

    await runCanary(clock, pause);

    expect(counted().at(-1)).toEqual(['CanarySucceeded', {}, 0]);
    expect(counted().filter(([name]) => name === 'CanarySucceeded')).toHaveLength(1);
    expect(failed.mock.calls).toEqual([
      ['the canary failed', { error: expect.objectContaining({ message: expect.stringMatching(message) }) }],
    ]);
  });

  test('uses the successor of a model that was retired', async () => {
    const counted = metricsCounted();
    const model = 'was retired at 2026-11-01T00:00:00.000Z: use xSD5Pro';
    answers['POST /v1/generations'] = [
      [400, { error: { code: 'validation_error', fields: { model } } }],
      [202, { requestId: ID }],
    ];

    await runCanary(clock, pause);

    expect(server.requests.slice(0, 2).map(({ body }) => body)).toMatchObject([
      { model: 'xSD4.5' },
      { model: 'xSD5Pro' },
    ]);
    expect(counted().at(-1)).toEqual(['CanarySucceeded', {}]);
    expect(failed).not.toHaveBeenCalled();
  });

  test.each(['cannot be dispatched now', 'was retired at 2026-11-01T00:00:00.000Z'])(
    'has failed when its model %s, without a successor',
    async (model) => {
      const counted = metricsCounted();
      answers['POST /v1/generations'] = [[400, { error: { code: 'validation_error', fields: { model } } }]];

      await runCanary(clock, pause);

      expect(server.requests).toHaveLength(1);
      expect(counted()).toEqual([['CanarySucceeded', {}, 0]]);
    },
  );

  test.each<[string, Answer]>([
    [
      'the same model',
      [400, { error: { fields: { model: 'was retired at 2026-11-01T00:00:00.000Z: use xSD4.5' } } }],
    ],
    [
      'a successor, in another refusal',
      [409, { error: { fields: { model: 'was retired at 2026-11-01T00:00:00.000Z: use xSD5Pro' } } }],
    ],
  ])('has failed, and tries no other model, when it is answered with %s', async (_, refusal) => {
    const counted = metricsCounted();
    answers['POST /v1/generations'] = [refusal];

    await runCanary(clock, pause);

    expect(server.requests).toHaveLength(1);
    expect(counted()).toEqual([['CanarySucceeded', {}, 0]]);
  });

  test.each<[string, Answer]>([
    ['no image', [200, 'pixels', 'text/html']],
    ['without a type', [200, 'pixels', '']],
    ['a part of it', [206, 'pixels', 'image/png']],
    ['the page of a gateway', [502, '<html>', 'image/png']],
  ])('has failed when its file is %s, and leaves the request to be looked at', async (_, file) => {
    const counted = metricsCounted();
    answers['GET /file.png?signed'] = [file];

    await runCanary(clock, pause);

    expect(counted()).toEqual([['CanarySucceeded', {}, 0]]);
    expect(server.requests.map(({ method }) => method)).not.toContain('DELETE');
  });

  test('looks every 2 s for 4 minutes, its creation included', async () => {
    answers[`GET ${PATH}`] = [[200, { status: 'processing' }]];

    await runCanary(clock, pause);

    expect(server.requests.filter(({ method }) => method === 'GET')).toHaveLength(120);
  });

  test('says who it is in every call, and sends JSON', async () => {
    await runCanary(clock, pause);

    for (const { headers } of server.requests) expect(headers['user-agent']).toMatch(/^generation-service\//);
    expect(server.requests[0]?.headers['content-type']).toBe('application/json');
  });

  test('has failed when any of its calls, the file included, is not answered within 30 s', async () => {
    const { timeout } = AbortSignal;
    for (let late = 1; late <= 6; late++) {
      server.requests.length = 0;
      let calls = 0;
      const limited = jest
        .spyOn(AbortSignal, 'timeout')
        .mockImplementation((limitMs) =>
          ++calls === late ? AbortSignal.abort() : timeout.call(AbortSignal, limitMs),
        );
      const counted = metricsCounted();
      answers[`GET ${PATH}`] = [
        [200, { status: 'queued' }],
        [200, { status: 'processing' }],
        [200, { status: 'succeeded', images: [{ url: `${server.url}/file.png?signed` }] }],
      ];

      await runCanary(clock, pause);

      expect(counted().at(-1)).toEqual(['CanarySucceeded', {}, 0]);
      expect(server.requests).toHaveLength(late - 1);
      expect(limited.mock.calls).toEqual(Array(late).fill([30_000]));
      limited.mockRestore();
    }
  });

  test('has failed when its function runs out of time, which is no error to Lambda', async () => {
    const counted = metricsCounted();
    server.respond = () => undefined;

    await handler({}, { ...aLambdaContext(), getRemainingTimeInMillis: () => 1_010 });

    expect(counted()).toEqual([['CanarySucceeded', {}, 0]]);
  });

  test('has failed while there is no key', async () => {
    const counted = metricsCounted();
    secrets.set('arn:canary-key', undefined);

    await runCanary(clock, pause);

    expect(counted()).toEqual([['CanarySucceeded', {}, 0]]);
    expect(server.requests).toEqual([]);
  });
});
