import { beforeEach, describe, expect, test } from '@jest/globals';
import { CHECKS, runSmoke } from '../../../../ops/smoke/run-smoke.ts';
import { anImage } from '../../../../packages/media/test/images.ts';
import { answer, aService, type FakeService, IMAGE, IMAGE_URL, refused, SILENT, VIDEO } from './a-service.ts';
import { type Case, failuresOf, image, put, refuse, reply } from './broken-service.ts';

let service: FakeService;
beforeEach(async () => {
  service = await aService();
});

test('a service without fault passes every check', async () => {
  const results = await runSmoke(service.smoke, SILENT);

  expect(results.filter(({ result }) => result !== 'passed')).toEqual([]);
  expect(results.map(({ name }) => name)).toEqual([...CHECKS.map(({ name }) => name), 'everything removed']);
});

const REFUSALS: Case[] = [
  [
    'unknown route',
    'a 403',
    refuse('GET /v1/no-such-route', 403, 'forbidden'),
    /403.* instead of 404 not_found/,
  ],
  [
    'unknown route',
    'no request id',
    ({ replies }) => {
      replies['GET /v1/no-such-route'] = () => ({
        ...refused(404, 'not_found'),
        headers: new Headers(),
      });
    },
    /without X-Request-Id/,
  ],
  [
    'unknown route with a key',
    'a judged Authorization header',
    ({ replies }) => {
      replies['GET /v1/no-such-route'] = ({ key }) =>
        key === undefined ? refused(404, 'not_found') : answer(403, { message: 'Invalid key=value pair' });
    },
    /Invalid key=value pair.* instead of 404/,
  ],
  [
    'unknown route, rare content type',
    'a judged content type',
    refuse('POST /v1/no-such-route', 405, 'not_found'),
    /405.* instead of 404 not_found/,
  ],
  ['wrong method', 'a 405', refuse('DELETE /v1/balance', 405, 'not_found'), /405.* instead of 404 not_found/],
  [
    'missing key',
    'an answer',
    ({ replies }) => {
      const before = replies['GET /v1/balance'];
      replies['GET /v1/balance'] = (options) =>
        options.key === undefined
          ? answer(200, { xTokens: 0 })
          : (before?.(options) ?? refused(404, 'not_found'));
    },
    /200.* instead of 401 unauthorized/,
  ],
  [
    'wrong key',
    'a 403',
    ({ replies }) => {
      const before = replies['GET /v1/balance'];
      replies['GET /v1/balance'] = (options) =>
        options.key === 'gsk_wrong'
          ? refused(403, 'forbidden')
          : (before?.(options) ?? refused(404, 'not_found'));
    },
    /403.* instead of 401 unauthorized/,
  ],
];

const REQUESTS: Case[] = [
  ['catalog', 'an error', refuse('GET /v1/models', 500, 'internal_error'), /answered 500, .*internal_error/],
  [
    'catalog',
    'no models',
    reply('GET /v1/models', 200, { data: [] }),
    /providers' keys.*-c providers=sandbox/,
  ],
  ['catalog', 'no image model', reply('GET /v1/models', 200, { data: [{ id: 'xW3.0s' }] }), /makes images/],
  [
    'catalog',
    'no video model without an image',
    reply('GET /v1/models', 200, { data: [{ id: 'xZI1.0Pro' }, { id: 'xW2.7S' }] }),
    /makes a video without an image/,
  ],
  [
    'top-up',
    'another balance',
    reply('GET /v1/balance', 200, { xTokens: 3 }),
    /balance is 3 xTokens instead of 7/,
  ],
  ['image accepted', 'a refusal', refuse('POST /v1/generations', 402, 'payment_required'), /answered 402/],
  [
    'image accepted',
    'a 200',
    reply('POST /v1/generations', 200, { requestId: 'x', status: 'queued' }),
    /answered 200/,
  ],
  ['video accepted', 'a refusal', refuse('POST /v1/videos', 500, 'internal_error'), /answered 500/],
  ['image made', 'an unfinished record', image({ status: 'processing' }), /is still processing after 4 s/],
  [
    'image made',
    'a failure',
    image({ status: 'failed', error: { code: 'provider_error', message: 'It broke.' } }),
    /failed: provider_error, It broke\./,
  ],
  [
    'image made',
    'another price',
    image({ status: 'succeeded', cost: 2, images: [{ url: IMAGE_URL, size: '1024x1024' }] }),
    /cost 2 xTokens instead of 1/,
  ],
  [
    'image made',
    'no file',
    image({ status: 'succeeded', cost: 1, images: [{}] }),
    /not exactly one image with a URL/,
  ],
  ['video made', 'an error', refuse(`GET /v1/videos/${VIDEO}`, 500, 'internal_error'), /answered 500/],
  [
    'webhook',
    'no attempt',
    ({ operator }) => {
      operator.webhookAttempts = async () => [];
    },
    /No attempt was made within/,
  ],
  [
    'webhook',
    'a refused attempt',
    ({ operator }) => {
      const attempt = { requestId: IMAGE, delivery: IMAGE, number: 1, startedAt: '', milliseconds: 1 };
      operator.webhookAttempts = async () => [{ ...attempt, status: 500 }];
    },
    /last of 1 attempts ended with 500/,
  ],
];

const AFTERWARDS: Case[] = [
  [
    'rate limit',
    'no limit',
    ({ operator }) => {
      operator.createKey = async () => 'key';
    },
    /all let through/,
  ],
  [
    'rate limit',
    'no Retry-After',
    ({ replies }) => {
      const before = replies['GET /v1/balance'];
      replies['GET /v1/balance'] = (options) => {
        const given = before?.(options) ?? refused(404, 'not_found');
        return given.status === 429 ? refused(429, 'rate_limited') : given;
      };
    },
    /Retry-After "", which is no number/,
  ],
  ['deletion', 'a refusal', refuse(`DELETE /v1/generations/${IMAGE}`, 409, 'conflict'), /answered 409/],
  [
    'deletion',
    'no removed file',
    reply(`DELETE /v1/generations/${IMAGE}`, 200, { removedObjects: 0 }),
    /removed 0 files instead of 1/,
  ],
  [
    'deletion',
    'a record that stays',
    reply(`DELETE /v1/generations/${IMAGE}`, 200, { removedObjects: 1 }),
    /of a deleted image answered 200/,
  ],
  [
    'deletion',
    'a file that stays',
    put(IMAGE_URL, await anImage(1024, 1024), 'image/png'),
    /file of a deleted image answered 200/,
  ],
  [
    'end-user deletion',
    'a video that stays',
    reply('DELETE /v1/end-users/smoke%40example.com', 200, {}),
    /still finds the video/,
  ],
  [
    'end-user deletion',
    'a refusal',
    refuse('DELETE /v1/end-users/smoke%40example.com', 409, 'conflict'),
    /answered 409/,
  ],
  [
    'ledger',
    'a problem',
    ({ operator }) => {
      const problem = { accountId: 'acc_1', kind: 'balance' as const, detail: 'The balance is 3.' };
      operator.verifyLedger = async () => ({ accounts: 1, entries: 3, problems: [problem] });
    },
    /does not add up: The balance is 3\./,
  ],
  [
    'ledger',
    'no entries',
    ({ operator }) => {
      operator.verifyLedger = async () => ({ accounts: 0, entries: 0, problems: [] });
    },
    /no entries/,
  ],
];

describe.each([
  ['refusals', REFUSALS],
  ['requests', REQUESTS],
  ['what comes afterwards', AFTERWARDS],
])('%s', (_group, cases) => {
  test.each(cases)('"%s" fails with a sentence for %s', async (check, _fault, breakIt, sentence) => {
    breakIt(service);

    expect(await failuresOf(service)).toContainEqual([check, expect.stringMatching(sentence)]);
  });
});

test('"balance" fails with a sentence when the requests cost something else', async () => {
  const before = service.replies['POST /v1/videos'];
  service.replies['POST /v1/videos'] = (options) => {
    before?.(options);
    return before?.(options) ?? refused(404, 'not_found');
  };

  expect(await failuresOf(service)).toEqual([['balance', 'The balance is -6 xTokens instead of 0.']]);
});
