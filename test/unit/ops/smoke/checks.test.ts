import { beforeEach, describe, expect, test } from '@jest/globals';
import type { AwsAccount } from '../../../../ops/smoke/aws-account.ts';
import type { ApiAnswer, CallOptions } from '../../../../ops/smoke/http.ts';
import type { Operator } from '../../../../ops/smoke/operator.ts';
import { CHECKS, runSmoke } from '../../../../ops/smoke/run-smoke.ts';
import { anImage } from '../../../../packages/media/test/images.ts';
import { aVideo } from '../../../../packages/media/test/videos.ts';
import {
  aFile,
  answer,
  aService,
  type FakeService,
  IMAGE,
  IMAGE_URL,
  noFile,
  refused,
  SILENT,
  VIDEO,
  VIDEO_URL,
} from './a-service.ts';

let service: FakeService;
beforeEach(async () => {
  service = await aService();
});

/** The checks that fail, with their sentences. */
const failures = async (): Promise<string[][]> =>
  (await runSmoke(service.smoke, SILENT))
    .filter(({ result }) => result === 'failed')
    .map(({ name, detail }) => [name, detail]);

/** Makes one thing of a service wrong. */
type Fault = (service: FakeService) => unknown;
/** Answers a call of the API so, or as before for undefined. */
const on =
  (call: string, reply: (options: CallOptions, before: ApiAnswer) => ApiAnswer | undefined): Fault =>
  ({ replies }) => {
    const before = replies[call] ?? (() => refused(404, 'not_found'));
    replies[call] = (options) => {
      const usual = before(options);
      return reply(options, usual) ?? usual;
    };
  };
/** Answers or refuses a call whatever was there before, which then does not happen. */
const always =
  (call: string, given: ApiAnswer): Fault =>
  ({ replies }) => {
    replies[call] = () => given;
  };
const image = (fields: object): Fault =>
  always(`GET /v1/generations/${IMAGE}`, answer(200, { requestId: IMAGE, ...fields }));
const operator =
  (faulty: Partial<Operator>): Fault =>
  (faultless) =>
    Object.assign(faultless.operator, faulty);
const aws =
  (faulty: Partial<AwsAccount>): Fault =>
  (faultless) =>
    Object.assign(faultless.aws, faulty);
/** Serves a file at a URL. */
const put =
  (url: string, ...given: Parameters<typeof aFile>): Fault =>
  ({ files }) => {
    files[url] = () => aFile(...given);
  };

/** A check, a fault that it must notice, and what it says. */
type Case = [check: string, fault: Fault, sentence: RegExp];

const UNKNOWN = 'GET /v1/no-such-route';
const BALANCE = 'GET /v1/balance';
const REFUSALS: Case[] = [
  ['unknown route', always(UNKNOWN, refused(403, 'forbidden')), /403.* instead of 404 not_found/],
  [
    'unknown route',
    always(UNKNOWN, { ...refused(404, 'not_found'), headers: new Headers() }),
    /without X-Request-Id/,
  ],
  [
    'unknown route with a key',
    on(UNKNOWN, ({ key }) => (key === undefined ? undefined : answer(403, { message: 'Invalid pair' }))),
    /Invalid pair.* instead of 404/,
  ],
  [
    'unknown route, rare content type',
    always('POST /v1/no-such-route', refused(405, 'not_found')),
    /405.* instead of 404 not_found/,
  ],
  ['wrong method', always('DELETE /v1/balance', refused(405, 'not_found')), /405.* instead of 404 not_found/],
  [
    'missing key',
    on(BALANCE, ({ key }) => (key === undefined ? answer(200, { xTokens: 0 }) : undefined)),
    /200.* instead of 401 unauthorized/,
  ],
  [
    'wrong key',
    on(BALANCE, ({ key }) => (key === 'gsk_wrong' ? refused(403, 'forbidden') : undefined)),
    /403.* instead of 401 unauthorized/,
  ],
];

const catalogOf = (...ids: string[]): Fault =>
  always('GET /v1/models', answer(200, { data: ids.map((id) => ({ id })) }));
const url = IMAGE_URL;
const anAttempt = { requestId: IMAGE, delivery: IMAGE, number: 1, startedAt: '', milliseconds: 1 };
const REQUESTS: Case[] = [
  ['catalog', always('GET /v1/models', refused(500, 'internal_error')), /answered 500, .*internal_error/],
  ['catalog', catalogOf(), /providers' keys.*-c providers=sandbox/],
  ['catalog', catalogOf('xW3.0s'), /makes images/],
  ['catalog', catalogOf('xZI1.0Pro', 'xW2.7S'), /makes a video without an image/],
  ['top-up', always(BALANCE, answer(200, { xTokens: 3 })), /balance is 3 xTokens instead of 7/],
  ['image accepted', always('POST /v1/generations', refused(402, 'payment_required')), /answered 402/],
  ['image accepted', always('POST /v1/generations', answer(200, { requestId: 'x' })), /answered 200/],
  ['video accepted', always('POST /v1/videos', refused(500, 'internal_error')), /answered 500/],
  ['image made', image({ status: 'processing' }), /is still processing after 4 s/],
  [
    'image made',
    image({ status: 'failed', error: { code: 'provider_error', message: 'It broke.' } }),
    /failed: provider_error, It broke\./,
  ],
  [
    'image made',
    image({ status: 'succeeded', cost: 2, images: [{ url, size: '1024x1024' }] }),
    /cost 2 xTokens instead of 1/,
  ],
  ['image made', image({ status: 'succeeded', cost: 1, images: [{}] }), /not exactly one image with a URL/],
  ['video made', always(`GET /v1/videos/${VIDEO}`, refused(500, 'internal_error')), /answered 500/],
  ['webhook', operator({ webhookAttempts: async () => [] }), /No attempt was made within/],
  [
    'webhook',
    operator({ webhookAttempts: async () => [{ ...anAttempt, status: 500 }] }),
    /last of 1 attempts ended with 500/,
  ],
];

const png = await anImage(1024, 1024);
const DELETE_IMAGE = `DELETE /v1/generations/${IMAGE}`;
const DELETE_END_USER = 'DELETE /v1/end-users/smoke%40example.com';
const problem = { accountId: 'acc_1', kind: 'balance' as const, detail: 'The balance is 3.' };
const AFTERWARDS: Case[] = [
  ['rate limit', operator({ createKey: async () => 'key' }), /all let through/],
  [
    'rate limit',
    on(BALANCE, (_, { status }) => (status === 429 ? refused(429, 'rate_limited') : undefined)),
    /Retry-After "", which is no number/,
  ],
  ['deletion', always(DELETE_IMAGE, refused(409, 'conflict')), /answered 409/],
  ['deletion', always(DELETE_IMAGE, answer(200, { removedObjects: 0 })), /removed 0 files instead of 1/],
  ['deletion', always(DELETE_IMAGE, answer(200, { removedObjects: 1 })), /of a deleted image answered 200/],
  ['deletion', put(IMAGE_URL, png, 'image/png'), /file of a deleted image answered 200/],
  ['end-user deletion', always(DELETE_END_USER, answer(200, {})), /still finds the video/],
  ['end-user deletion', always(DELETE_END_USER, refused(409, 'conflict')), /answered 409/],
  [
    'ledger',
    operator({ verifyLedger: async () => ({ accounts: 1, entries: 3, problems: [problem] }) }),
    /does not add up: The balance is 3\./,
  ],
  [
    'ledger',
    operator({ verifyLedger: async () => ({ accounts: 0, entries: 0, problems: [] }) }),
    /no entries/,
  ],
];

const [wide, long] = [
  await aVideo({ width: 1280, height: 720, seconds: 2 }),
  await aVideo({ width: 854, height: 480, seconds: 4 }),
];
const noPng = Buffer.from('<html>'.repeat(20));
const FILES: Case[] = [
  [
    'image file',
    ({ files }) => {
      files[IMAGE_URL] = () => noFile(403);
    },
    /answered 403/,
  ],
  ['image file', put(url, await anImage(512, 512), 'image/png'), /is 512x512 instead of 1024x1024/],
  ['image file', put(url, png, 'image/jpeg'), /is image\/png and is served as image\/jpeg/],
  ['image file', put(url, noPng, 'image/png'), /no PNG, JPEG or WebP/],
  [
    'image file',
    put(url, png, 'image/png', { 'x-content-type-options': '' }),
    /without X-Content-Type-Options/,
  ],
  ['image file', put(url, png, 'image/png', { 'content-disposition': '' }), /without its name/],
  ['image file', put(url, png, 'image/png', { 'content-length': '1' }), /says 1 bytes and has/],
  [
    'image file',
    image({ status: 'succeeded', cost: 1, images: [{ url, size: '512x512' }] }),
    /record says 512x512 of an image of 1024x1024/,
  ],
  ['video file', put(VIDEO_URL, long, 'video/mp4'), /lasts 4 s instead of 2/],
  ['video file', put(VIDEO_URL, wide, 'video/mp4'), /1280x720, which is no 480p/],
  ['video file', put(VIDEO_URL, png, 'video/mp4'), /is not a video that can be read/],
  ['altered URL', put(url.replace('abcd', 'abAd'), png, 'image/png'), /with another signature answered 200/],
  [
    'altered URL',
    put(url.replace('1800000000', '1800003600'), png, 'image/png'),
    /with a later expiry answered 200/,
  ],
  ['altered URL', put(url.replace(/\?.*/, ''), png, 'image/png'), /without a signature answered 200/],
];

const refusedTopic = 'Failed to execute action arn:aws:sns:x. Received error: AccessDenied';
const AWS_ACCOUNT: Case[] = [
  [
    'Lambda concurrency',
    aws({ concurrency: async () => ({ quota: 10, unreserved: 10 }) }),
    /quota in eu-west-1 is 10 functions at once, and 100 are wanted.*increase --region eu-west-1 /,
  ],
  [
    'Lambda concurrency',
    (service) => {
      service.aws.concurrency = async () => ({ quota: 200, unreserved: 99 });
      service.smoke.options.waitingInAll = 50;
    },
    /openaiWaitingInAll lets 50 calls wait, and eu-west-1 runs 99 functions.*give 49 at most/,
  ],
  ['open executions', aws({ openExecutions: async () => 1000 }), /quota is 1000 open executions/],
  [
    'alarm subscription',
    aws({ subscriptions: async () => ({ confirmed: 0, pending: 1 }) }),
    /not confirmed: open the link/,
  ],
  ['alarm raised', aws({ findQuietAlarm: async () => undefined }), /No alarm notifies the topic/],
  [
    'alarm raised',
    aws({ alarmActions: async () => [refusedTopic] }),
    /could not notify its topic: Failed to execute.*AccessDenied/,
  ],
  ['alarm raised', aws({ alarmActions: async () => [] }), /took no action within 60 s/],
  [
    'alarm delivered',
    aws({ topicSum: async () => 0 }),
    /NumberOfNotificationsDelivered of the alarms' topic stayed 0 for 30 s/,
  ],
];

test('a service without fault passes every check', async () => {
  const results = await runSmoke(service.smoke, SILENT);

  expect(results.filter(({ result }) => result !== 'passed')).toEqual([]);
  expect(results.map(({ name }) => name)).toEqual([...CHECKS.map(({ name }) => name), 'everything removed']);
});

describe('a check fails with a sentence:', () => {
  test.each([...REFUSALS, ...REQUESTS, ...AFTERWARDS, ...FILES])(
    '"%s" %#',
    async (check, fault, sentence) => {
      fault(service);

      expect(await failures()).toContainEqual([check, expect.stringMatching(sentence)]);
    },
  );

  test.each(AWS_ACCOUNT)('"%s" alone, of the account of AWS %#', async (check, fault, sentence) => {
    fault(service);

    expect(await failures()).toEqual([[check, expect.stringMatching(sentence)]]);
  });

  test('"balance" alone when the requests cost something else', async () => {
    const create = service.replies['POST /v1/videos'];
    service.replies['POST /v1/videos'] = (options) => {
      create?.(options);
      return create?.(options) ?? refused(404, 'not_found');
    };

    expect(await failures()).toEqual([['balance', 'The balance is -6 xTokens instead of 0.']]);
  });

  test('"image file" says what an unanswered call said', async () => {
    service.smoke.caller.fetchFile = async () => {
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    };

    expect((await failures())[0]).toEqual(['image file', 'TypeError: fetch failed (connect ECONNREFUSED)']);
  });
});
