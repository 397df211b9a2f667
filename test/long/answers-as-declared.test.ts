import { expect, test } from '@jest/globals';
import {
  accepted,
  anUndrawnGeneration,
  type Caller,
  callerWith,
  newCaller,
  send,
  setLimits,
  settled,
} from '../contract/support/client.ts';
import { answersSeen } from '../contract/support/declared-answers.ts';
import { declaredAnswers, faultAnswers } from '../contract/support/fault-answers.ts';
import { ops } from '../contract/support/local-service.ts';
import { filled, ROUTES } from '../contract/support/routes.ts';
import { useCaller } from '../contract/support/use-caller.ts';
import { anUnfilmedVideo } from '../contract/support/videos.ts';

const caller = useCaller();
/** Too slow to refill anything during the test. */
const ONE_IN_1000_SECONDS = 0.001;

const keyWith = async (scope: string): Promise<Caller> => {
  const { accountId, service } = caller;
  const { key } = await ops<{ key: string }>(
    service,
    'keys',
    'create',
    '--account',
    accountId,
    '--scopes',
    scope,
  );
  return callerWith(service, accountId, key);
};
const call = (by: Caller, method: string, path: string, body?: unknown) =>
  send(by.service, method, path, {
    headers: { authorization: `Bearer ${by.key}` },
    ...(method === 'POST' && body !== undefined && { body }),
  });

/** A body that the route accepts. */
const BODIES: Record<string, () => unknown> = {
  '/v1/generations': () => anUndrawnGeneration(),
  '/v1/videos': () => anUnfilmedVideo(),
  '/v1/generations/bulk-delete': () => ({ requestIds: [] }),
  '/v1/quotes': () => ({ kind: 'image', ...anUndrawnGeneration() }),
  '/v1/uploads': () => ({ contentType: 'image/png', bytes: 10 }),
};

test('Every status that the document declares is answered: by a call here, or through its handler when it needs a fault', async () => {
  // What every route refuses.
  const [models, balance] = [await keyWith('models:read'), await keyWith('balance:read')];
  for (const { method, path, scope } of ROUTES) {
    const target = filled(path);
    await send(caller.service, method, target);
    await call(scope === 'models:read' ? balance : models, method, target, {});
    await call(caller, method, `${target}?unknown=1`, {});
  }

  // What each answers, and refuses, of its own.
  const end = async (more: Record<string, unknown> = {}): Promise<string> => {
    const { requestId } = await accepted(caller, anUndrawnGeneration(more));
    await settled(caller, requestId);
    return requestId;
  };
  const [read, owned] = [await end(), 'declared@example.com'];
  const running = await accepted(caller, {
    prompt: '[delay=300] not soon',
    endUserEmail: 'running@example.com',
  });
  await call(caller, 'DELETE', `/v1/generations/${running.requestId}`);
  await call(caller, 'DELETE', '/v1/end-users/running%40example.com');
  const video = await caller.post<{ requestId: string }>('/v1/videos', anUnfilmedVideo());
  await end({ endUserEmail: owned });
  for (const path of ['/v1/generations', '/v1/videos']) {
    const poor = await newCaller(caller.service, 0);
    await call(poor, 'POST', path, BODIES[path]?.());
    const headers = { 'idempotency-key': 'declared' };
    await caller.post(path, BODIES[path]?.(), headers);
    await caller.post(path, { ...(BODIES[path]?.() as object), endUserEmail: owned }, headers);
  }
  await call(await newCaller(caller.service, 0), 'POST', '/v1/uploads', BODIES['/v1/uploads']?.());
  const clip = { kind: 'video', ...anUnfilmedVideo(), referenceVideos: ['https://example.com/a.mp4'] };
  await call(await newCaller(caller.service, 0), 'POST', '/v1/quotes', clip);
  await caller.get(`/v1/videos/${video.body.requestId}`);
  for (const { method, path } of ROUTES) {
    const absent = path.startsWith('/v1/videos') ? 'vid_01ARZ3NDEKTSV4RRFFQ69G5FAV' : undefined;
    if (path.includes('{')) await call(caller, method, filled(path, absent));
    else await call(caller, method, path, BODIES[path]?.());
  }
  await caller.get(`/v1/generations/${read}`);
  await caller.get('/v1/usage?from=2026-11-01&to=2026-12-01');
  await call(caller, 'DELETE', `/v1/generations/${read}`);
  for (const verb of ['block', 'unblock'])
    await call(caller, 'POST', `/v1/end-users/${encodeURIComponent(owned)}/${verb}`);
  for (const method of ['PUT', 'GET'])
    await call(caller, method, `/v1/end-users/${encodeURIComponent(owned)}/budget`);
  await call(caller, 'DELETE', `/v1/end-users/${encodeURIComponent(owned)}`);

  // Last: nothing else is answered then.
  await setLimits(caller, ONE_IN_1000_SECONDS, 1);
  for (const { method, path } of ROUTES) {
    // The first is let through.
    for (let status = 0; status !== 429; )
      ({ status } = await call(caller, method, `${filled(path)}?unknown=1`, {}));
  }

  const declared = declaredAnswers();
  const missing = declared.filter((answer) => !answersSeen().has(answer));

  expect(missing.toSorted()).toEqual(faultAnswers().toSorted());
  // 20 operations with a success and five refusals each, and 25 refusals of some.
  expect(declared).toHaveLength(145);
});
