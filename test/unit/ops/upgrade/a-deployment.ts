import type { ApiAnswer } from '../../../../ops/smoke/http.ts';
import type { RehearsalStage } from '../../../../ops/upgrade/rehearse.ts';
import type { Release, Releases } from '../../../../ops/upgrade/releases.ts';

/** A request of the fake service. */
export interface FakeRequest {
  requestId: string;
  model: string;
  email: string;
  webhookUrl?: string;
  /** When its provider has made it, in milliseconds; Infinity until a callback. */
  readyAt: number;
  isWaiting: boolean;
  isLost: boolean;
  createdAt: number;
}

/** A stack that takes any release and does everything right, in virtual time. A test breaks one part of it. */
export interface FakeDeployment {
  releases: Releases;
  stage: RehearsalStage;
  requests: Map<string, FakeRequest>;
  /** What the tools were asked to do, in order. */
  done: string[];
  now(): Date;
  /** Called at each deployment after the first. */
  onUpgrade: () => void;
  /** Replaces the answer to a call; undefined for the right one. */
  override: (method: string, path: string) => ApiAnswer | undefined;
}

const FROM: Release = { version: '1.0.0', folder: '/from', assembly: '/from.out' };
const TO: Release = { version: '1.1.0', folder: '/to', assembly: '/to.out' };
const DEPLOYMENT_SECONDS = 8;
const RETRY_MS = 5_000;

export const answer = (
  status: number,
  body: unknown = {},
  headers: Record<string, string> = {},
): ApiAnswer => ({
  ...{ status, body },
  headers: new Headers(headers),
});

export const createDeployment = (): FakeDeployment => {
  let time = Date.parse('2026-11-23T00:00:00.000Z');
  let deployed: Release | undefined;
  let created = 0;
  const requests = new Map<string, FakeRequest>();
  const done: string[] = [];

  const pause = async (milliseconds: number): Promise<void> => {
    time += milliseconds;
    // Others go on meanwhile, and their pauses add up.
    await new Promise((resolve) => setImmediate(resolve));
  };
  const statusOf = ({ isLost, readyAt, isWaiting }: FakeRequest): string => {
    if (isLost) return 'failed';
    if (time >= readyAt) return 'succeeded';
    return isWaiting ? 'queued' : 'processing';
  };
  /** A first attempt at once, and a further attempt every 5 s after a refusal. */
  const attemptsAt = ({ webhookUrl = '', readyAt }: FakeRequest) => {
    if (webhookUrl === '' || time < readyAt) return [];
    const isAccepted = webhookUrl.endsWith('/sandbox/webhooks');
    const count = isAccepted ? 1 : 1 + Math.floor((time - readyAt) / RETRY_MS);
    return Array.from({ length: count }, (_, index) => ({
      startedAt: new Date(readyAt + index * RETRY_MS).toISOString(),
      status: isAccepted ? 204 : 404,
    }));
  };

  const create = (body: Record<string, string>): ApiAnswer => {
    const { model = '', prompt = '', endUserEmail: email = '', webhookUrl } = body;
    created += 1;
    const requestId = `r_${created}`;
    const seconds = Number(/\[delay=(\d+)\]/.exec(prompt)?.[1] ?? 0);
    const isWaiting = prompt.includes('waits');
    const withCallback = model === 'called-back';
    const readyAt = withCallback ? Number.POSITIVE_INFINITY : time + (isWaiting ? 90_000 : seconds * 1_000);
    requests.set(requestId, {
      ...{ requestId, model, email, readyAt, isWaiting, isLost: false, createdAt: time },
      ...(webhookUrl !== undefined && { webhookUrl }),
    });
    return answer(202, { requestId, status: 'queued' });
  };
  const read = (requestId: string): ApiAnswer => {
    const request = requests.get(requestId);
    if (!request) return answer(404);
    const status = statusOf(request);
    const error = { code: 'provider_error', message: 'Lost.' };
    return answer(200, {
      ...{ requestId, status },
      ...(status === 'failed' ? { error } : { images: [{ url: `file:${requestId}` }] }),
    });
  };
  const reply = (method: string, path: string, body: unknown): ApiAnswer => {
    const last = path.split('/').at(-1) ?? '';
    if (path === '/v1/balance') return answer(200, {}, { 'x-service-version': deployed?.version ?? '' });
    if (path.startsWith('/callback/')) {
      const request = requests.get(last);
      if (request) request.readyAt = time;
      return answer(200);
    }
    if (method === 'POST') return create(body as Record<string, string>);
    if (method === 'GET') return read(last);
    deleteRequestsOf(decodeURIComponent(last));
    return answer(200);
  };
  const deleteRequestsOf = (email: string): void => {
    for (const request of requests.values()) {
      if (request.email === email) requests.delete(request.requestId);
    }
  };

  const deployment: FakeDeployment = {
    ...{ requests, done },
    now: () => new Date(time),
    onUpgrade: () => undefined,
    override: () => undefined,
    releases: {
      async checkOut(tag) {
        done.push(`check out ${tag}`);
        return FROM;
      },
      present: async () => TO,
      async deploy(release) {
        done.push(`deploy ${release.version}`);
        for (let second = 0; second < DEPLOYMENT_SECONDS; second++) await pause(1_000);
        if (deployed) deployment.onUpgrade();
        deployed = release;
      },
      async destroy({ version }) {
        done.push(`destroy ${version}`);
      },
      async remove() {
        done.push('remove');
      },
    },
    stage: {
      caller: {
        baseUrl: 'https://api.example.com',
        call: async (method, path, { body } = {}) =>
          deployment.override(method, path) ?? reply(method, path, body),
        fetchFile: async (url) => ({
          status: requests.has(url.slice('file:'.length)) ? 200 : 403,
          headers: new Headers(),
          bytes: new Uint8Array(1),
        }),
      },
      key: 'key',
      sandboxUrl: 'https://sandbox.example.com',
      models: { image: 'image', polledVideo: 'polled', calledBackVideo: 'called-back' },
      async stored(requestId) {
        const request = requests.get(requestId);
        return request && { status: statusOf(request), webhookAttempts: attemptsAt(request) };
      },
      async beginDeletion(email) {
        deleteRequestsOf(email);
      },
      callbackPath: async (requestId) => `/callback/${requestId}`,
      workSeconds: 60,
      patienceSeconds: 120,
      pause,
      ledgerProblems: async () => [],
      failedExecutions: async () => [],
    },
  };
  return deployment;
};
