import type { Progress } from '../../../../ops/progress.ts';
import type { AwsAccount } from '../../../../ops/smoke/aws-account.ts';
import type { ApiAnswer, CallOptions, ServedFile } from '../../../../ops/smoke/http.ts';
import type { Operator } from '../../../../ops/smoke/operator.ts';
import type { Smoke, SmokeOptions } from '../../../../ops/smoke/smoke.ts';
import { anImage } from '../../../../packages/media/test/images.ts';
import { aVideo } from '../../../../packages/media/test/videos.ts';

export const ACCOUNT = 'acc_1';
export const IMAGE = 'img_1';
export const VIDEO = 'vid_1';
export const ALARM = 'an alarm';

/** A call as the service sees it: `GET /v1/balance`. */
type Reply = (options: CallOptions) => ApiAnswer;

/** A service that does everything right, in memory. A test breaks one part of it. */
export interface FakeService {
  /** Replies by method and path. */
  replies: Record<string, Reply>;
  /** Files by URL. */
  files: Record<string, () => ServedFile>;
  operator: Operator;
  aws: AwsAccount;
  /** What the operator and the alarms were asked to do, in order. */
  done: string[];
  smoke: Smoke;
}

export const answer = (status: number, body: unknown, headers: Record<string, string> = {}): ApiAnswer => ({
  ...{ status, body },
  headers: new Headers({ 'x-request-id': 'r-1', ...headers }),
});

export const refused = (status: number, code: string, headers: Record<string, string> = {}): ApiAnswer =>
  answer(status, { error: { code, message: 'No.' } }, headers);

export const aFile = (bytes: Buffer, type: string, headers: Record<string, string> = {}): ServedFile => ({
  status: 200,
  bytes: new Uint8Array(bytes),
  headers: new Headers({
    ...{ 'content-type': type, 'content-length': String(bytes.length), 'x-content-type-options': 'nosniff' },
    'content-disposition': 'inline; filename="a"',
    ...headers,
  }),
});

export const noFile = (status: number): ServedFile => ({
  status,
  headers: new Headers(),
  bytes: new Uint8Array(),
});

const OPTIONS: SmokeOptions = {
  webhookUrl: 'https://example.com/webhooks',
  minConcurrency: 100,
  waitingInAll: undefined,
  patienceSeconds: 4,
  metricPatienceSeconds: 30,
};

export const IMAGE_URL = 'https://files.example.com/i.png?Expires=1800000000&Signature=abcd&Key-Pair-Id=K';
export const VIDEO_URL = 'https://files.example.com/v.mp4?Expires=1800000000&Signature=efgh&Key-Pair-Id=K';
export const SILENT: Progress = {
  ...{ update: () => undefined, succeed: () => undefined },
  ...{ fail: () => undefined, stop: () => undefined },
};

/** Made once for all tests of a file. */
const MEDIA = Promise.all([anImage(1024, 1024), aVideo({ seconds: 2, width: 854, height: 480 })]);

/** A service without fault. Pauses take no time. */
export const aService = async (): Promise<FakeService> => {
  const [image, video] = await MEDIA;
  let xTokens = 0;
  let limitedCalls = 0;
  const deleted = new Set<string>();
  const done: string[] = [];
  const charge = (price: number): void => {
    xTokens -= price;
  };
  const withKey = (key: string | undefined, reply: () => ApiAnswer): ApiAnswer =>
    key === undefined || key === 'gsk_wrong' ? refused(401, 'unauthorized') : reply();
  const unlessDeleted = (id: string, record: object): ApiAnswer =>
    deleted.has(id) ? refused(404, 'not_found') : answer(200, record);

  const replies: Record<string, Reply> = {
    'GET /v1/models': () => answer(200, { data: [{ id: 'xZI1.0Pro' }, { id: 'xW3.0s' }] }),
    'GET /v1/balance': ({ key }) =>
      withKey(key, () => {
        if (key !== 'key with a limit') return answer(200, { xTokens });
        limitedCalls += 1;
        return limitedCalls === 1
          ? answer(200, { xTokens })
          : refused(429, 'rate_limited', { 'retry-after': '10' });
      }),
    'DELETE /v1/balance': () => refused(404, 'not_found', { allow: 'GET' }),
    'POST /v1/generations': () => {
      charge(1);
      return answer(202, { requestId: IMAGE, status: 'queued' });
    },
    'POST /v1/videos': () => {
      charge(6);
      return answer(202, { requestId: VIDEO, status: 'queued' });
    },
    [`GET /v1/generations/${IMAGE}`]: () =>
      unlessDeleted(IMAGE, {
        ...{ requestId: IMAGE, status: 'succeeded', cost: 1 },
        images: [{ url: IMAGE_URL, size: '1024x1024' }],
      }),
    [`GET /v1/videos/${VIDEO}`]: () =>
      unlessDeleted(VIDEO, {
        ...{ requestId: VIDEO, status: 'succeeded', cost: 6 },
        videos: [{ url: VIDEO_URL }],
      }),
    [`DELETE /v1/generations/${IMAGE}`]: () => {
      deleted.add(IMAGE);
      return answer(200, { requestId: IMAGE, deleted: true, removedObjects: 1 });
    },
    'DELETE /v1/end-users/smoke%40example.com': () => {
      deleted.add(VIDEO);
      return answer(200, { deleted: true });
    },
  };
  const files: Record<string, () => ServedFile> = {
    [IMAGE_URL]: () => (deleted.has(IMAGE) ? noFile(403) : aFile(image, 'image/png')),
    [VIDEO_URL]: () => aFile(video, 'video/mp4'),
  };

  const operator: Operator = {
    createAccount: async () => ACCOUNT,
    createKey: async (_accountId, { burst }) => (burst === 1 ? 'key with a limit' : 'key'),
    topUp: async (_accountId, thousandths) => charge(-thousandths / 1000),
    modelSettings: async () => new Map(),
    webhookAttempts: async (requestId) => [
      { requestId, delivery: requestId, number: 1, startedAt: '', milliseconds: 9, status: 204 },
    ],
    verifyLedger: async () => ({ accounts: 1, entries: 3, problems: [] }),
    removeAccount: async (accountId, requestIds) => {
      done.push(`remove ${accountId} with ${requestIds.join(', ')}`);
    },
  };
  const aws: AwsAccount = {
    region: 'eu-west-1',
    concurrency: async () => ({ quota: 1000, unreserved: 1000 }),
    openExecutions: async () => 1_000_000,
    subscriptions: async () => ({ confirmed: 1, pending: 0 }),
    findQuietAlarm: async () => ALARM,
    setAlarm: async (name, state) => {
      done.push(`set ${name} to ${state}`);
    },
    alarmActions: async () => ['Successfully executed action arn:aws:sns:us-east-1:111122223333:Alarms'],
    topicSum: async () => 1,
  };
  const smoke: Smoke = {
    caller: {
      baseUrl: 'https://api.example.com',
      call: async (method, path, options = {}) =>
        replies[`${method} ${path}`]?.(options) ?? refused(404, 'not_found'),
      fetchFile: async (url) => files[url]?.() ?? noFile(403),
    },
    ...{ operator, aws, options: { ...OPTIONS }, made: {}, signal: new AbortController().signal },
    ...{ say: () => undefined, pause: async () => undefined },
  };
  return { replies, files, operator, aws, done, smoke };
};
