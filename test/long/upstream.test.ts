import { beforeEach, expect, test } from '@jest/globals';
import { VERSION } from '../../lib/release.ts';
import { wrongFields } from '../contract/support/answers.ts';
import { aGeneration, becomes, eventually, unique } from '../contract/support/client.ts';
import { balance, entriesOf, refundedInFull } from '../contract/support/ledger.ts';
import { ops } from '../contract/support/local-service.ts';
import { loggedLines } from '../contract/support/permissions.ts';
import { uniqueEmail } from '../contract/support/resources.ts';
import { acceptedVideo, settledVideo, upstreamTask } from '../contract/support/videos.ts';
import { useOwnRun } from './own-run.ts';

const DEADLINE_SECONDS = 20;
const TASK = /^\/api\/v1\/tasks\/([^/]+)(\/cancel)?$/;

const { service, caller, proxy } = useOwnRun({
  proxied: ['modelArkBaseUrl', 'modelStudioBaseUrl'],
  xTokens: 10_000,
  context: {
    ...{ videoDeadlineSeconds: DEADLINE_SECONDS, pollIntervalSeconds: 1, reconcileIntervalSeconds: 1 },
    userAgentUrl: 'https://operator.example/',
    modelRoutes: JSON.stringify({
      'xZI1.0Pro': { provider: 'modelstudio', upstreamModel: 'z-image-turbo', refusesEarly: true },
      'xW3.0s': { provider: 'modelstudio', upstreamModel: 'wan3.0-video' },
      'xW3.0sPro': { provider: 'modelstudio', upstreamModel: 'wan3.0-video-prime' },
    }),
  },
});
/** Every call about a task, in order. */
let seen: { id: string; method: string; isCancel: boolean; atMs: number }[] = [];
/** What the proxy answers instead of the sandbox. */
let answer: (
  id: string,
  isCancel: boolean,
) => { status: number; body: unknown; retryAfter?: string } | undefined;
beforeEach(() => {
  seen = [];
  answer = () => undefined;
  proxy.stop = ({ method, path }, response) => {
    const [, id, cancel] = TASK.exec(path) ?? [];
    if (id === undefined) return false;
    seen.push({ id, method, isCancel: cancel !== undefined, atMs: Date.now() });
    const given = answer(id, cancel !== undefined);
    if (!given) return false;
    const { status, body, retryAfter } = given;
    response
      .writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter })
      .end(JSON.stringify(body));
    return true;
  };
});

const video = (prompt: string, endUserEmail = uniqueEmail()) =>
  acceptedVideo(caller, { model: 'xW3.0s', resolution: '480p', durationSec: 2, prompt, endUserEmail });
/** What came of cancelling a request's task; undefined before. */
const cancellationOf = async (requestId: string): Promise<{ reason?: string } | undefined> => {
  const shown = await ops<{ providerAttempts: { cancellation?: { reason?: string } }[] }>(
    service,
    ...['requests', 'show', '--id', requestId],
  );
  return shown.providerAttempts[0]?.cancellation;
};
const cancelsOf = (id: string) => seen.filter((call) => call.id === id && call.isCancel);

test('A provider that refuses our key when it is queried fails the request with provider_error, and pauses nobody', async () => {
  const endUserEmail = uniqueEmail();
  const { requestId } = await video(unique('[delay=1][revoked]'), endUserEmail);
  const record = await settledVideo(caller, requestId);

  expect(record).toMatchObject({ status: 'failed', error: { code: 'provider_error' } });
  expect(await entriesOf(caller, requestId)).toEqual(refundedInFull(6));
  expect(await settledVideo(caller, (await video(unique(), endUserEmail)).requestId)).toMatchObject({
    status: 'succeeded',
  });
  await becomes(
    () => loggedLines(service.dataDir, '"ProviderAccessRefused":'),
    expect.arrayContaining([expect.anything()]),
  );
});

test('A provider that is unavailable when it is queried is left alone for its Retry-After, and then delivers', async () => {
  const { requestId } = await video(unique('[delay=1][unavailable=1][retry-after=5]'));
  const record = await settledVideo(caller, requestId);

  expect(record).toMatchObject({ status: 'succeeded' });
  const [first, second] = seen;
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(5_000);
});

test('A preview model that the provider has at hosts of a workspace only fails at another host with provider_error, refunded', async () => {
  proxy.host = 'dashscope-intl.aliyuncs.com';
  const { requestId } = await video(unique('[delay=0]'));
  const record = await settledVideo(caller, requestId);
  proxy.host = undefined;

  expect(record).toMatchObject({ status: 'failed', error: { code: 'provider_error' } });
  expect(await entriesOf(caller, requestId)).toEqual(refundedInFull(6));
});

test('A creation that the provider took and never answered is not made again, and fails with provider_timeout', async () => {
  const prompt = unique('[delay=0][hang=30]');
  const { requestId } = await video(prompt);
  const record = await settledVideo(caller, requestId);

  expect(record).toMatchObject({ status: 'failed', error: { code: 'provider_timeout' } });
  const answered = await fetch(`${service.sandboxUrl}/sandbox/tasks?prompt=${encodeURIComponent(prompt)}`);
  expect(((await answered.json()) as { tasks: unknown[] }).tasks).toHaveLength(1);
});

test('What a provider reports to have used and was not billed is logged', async () => {
  const { requestId } = await video(unique('[delay=0][usage=14]'));
  expect(await settledVideo(caller, requestId)).toMatchObject({ status: 'succeeded' });

  const line = expect.stringContaining(requestId);
  await becomes(() => loggedLines(service.dataDir, 'provider usage differs'), [line]);
  await becomes(() => loggedLines(service.dataDir, '"ProviderUsageDiffers":'), [expect.anything()]);
});

test('A task that waits in the queue of its provider is cancelled when its request fails', async () => {
  const created = await video(unique('[queued=60]'));
  const task = await upstreamTask(caller, created);

  await ops(service, 'requests', 'fail', '--id', created.requestId);

  const cancellation = await eventually(
    () => cancellationOf(created.requestId),
    (found) => found !== undefined,
  );
  expect(cancellation?.reason).toBeUndefined();
  expect(cancelsOf(task?.id ?? '')).toHaveLength(1);
  const journal = await fetch(`${service.sandboxUrl}/sandbox/tasks/${task?.id}`);
  expect(await journal.json()).toMatchObject({ cancels: 1 });
});

test('What a failed request leaves at its provider is cancelled, at the deadline and by an operator, and never before', async () => {
  const [late, ended, spared] = await Promise.all([
    video(unique('[fail=timeout]')),
    video(unique('[fail=timeout]')),
    video(unique('[delay=2]')),
  ]);
  const [lateTask, endedTask, sparedTask] = await Promise.all(
    [late, ended, spared].map((record) => upstreamTask(caller, record)),
  );
  answer = (id, isCancel) =>
    isCancel && id === endedTask?.id ? { status: 200, body: { request_id: 'r' } } : undefined;

  await ops(service, 'requests', 'fail', '--id', ended.requestId);
  await eventually(
    async () => cancelsOf(endedTask?.id ?? ''),
    (calls) => calls.length > 0,
  );
  const record = await settledVideo(caller, late.requestId);
  expect(record).toMatchObject({ status: 'failed', error: { code: 'provider_timeout' } });
  await eventually(
    async () => cancelsOf(lateTask?.id ?? ''),
    (calls) => calls.length > 0,
  );

  expect(cancelsOf(lateTask?.id ?? '')[0]?.atMs).toBeGreaterThanOrEqual(Date.parse(record.finishedAt ?? ''));
  expect((await settledVideo(caller, spared.requestId)).status).toBe('succeeded');
  const cancellations = await Promise.all(
    [late, ended].map(({ requestId }) =>
      eventually(
        () => cancellationOf(requestId),
        (found) => found !== undefined,
      ),
    ),
  );
  expect(cancellations.map((found) => found?.reason)).toEqual(['UnsupportedOperation', undefined]);
  expect([endedTask, lateTask, sparedTask].map((task) => cancelsOf(task?.id ?? '').length)).toEqual([
    1, 1, 0,
  ]);
});

test('Every call to a provider says who calls', () => {
  expect(proxy.requests.length).toBeGreaterThan(10);
  expect(new Set(proxy.requests.map(({ headers }) => headers['user-agent']))).toEqual(
    new Set([`generation-service/${VERSION} (+https://operator.example/)`]),
  );
});

test('A model that its route cannot serve is not listed; a route that refuses early refuses before any debit', async () => {
  const { body } = await caller.get<{ data: { id: string }[] }>('/v1/models');
  expect(body.data.map(({ id }) => id)).toEqual(['xZI1.0Pro', 'xW3.0s']);
  const before = await balance(caller);
  const refused = await caller.post('/v1/generations', aGeneration({ model: 'xZI1.0Pro', size: '256x256' }));

  expect(wrongFields(refused)).toEqual(['size']);
  expect(await balance(caller)).toBe(before);
});
