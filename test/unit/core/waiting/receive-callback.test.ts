import { createHmac } from 'node:crypto';
import { clearCaches } from '@aws-lambda-powertools/parameters';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { deleteRequest } from '../../../../core/deletion/delete-requests.ts';
import type { Provider, ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { deletedRequestKey, requestKey } from '../../../../core/table/keys.ts';
import { awaitProvider } from '../../../../core/waiting/await-provider.ts';
import { type ProviderCallback, receiveCallback } from '../../../../core/waiting/receive-callback.ts';
import { at, atSeconds, clockAt } from '../../builders/clocks.ts';
import { ACCOUNT_ID, REQUEST_ID, VIDEO_ID } from '../../builders/entities.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { accepted, answering, ENTERED, WaitingRequest, wokenBy } from '../../builders/waiting-request.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { secrets } from '../../fakes/fresh-secrets.ts';
import { memory } from '../../fakes/fresh-table.ts';

const request = new WaitingRequest(memory);
beforeEach(() => {
  secrets.set('arn:callback-secret', 'a secret of the deployment');
  request.given();
  pause.mockClear();
});

const WAITING: ProviderAnswer = { kind: 'waiting' };
const token = (requestId = VIDEO_ID, provider = 'modelark'): string =>
  createHmac('sha256', 'a secret of the deployment').update(`${provider}\n${requestId}`).digest('hex');
const pause = jest.fn(async (_milliseconds: number) => undefined);
const receive = (provider: Provider, callback: Partial<ProviderCallback> = {}, seconds = 60) =>
  receiveCallback(
    { provider: 'modelark', requestId: VIDEO_ID, token: token(), ...callback },
    leadingTo(provider),
    clockAt(seconds),
    pause,
  );
const THROTTLED = Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' });
const NOT_FOUND = { code: 'not_found', message: 'There is nothing here.' };

/** Lets the execution wait under a token that the table holds. */
const givenToken = (): void => {
  executions.wait('token-1');
  request.waiting({ taskToken: 'token-1', waitingSince: at(0) });
};

describe('a callback', () => {
  test('is a hint: the provider is queried, and its answer wakes the execution', async () => {
    givenToken();
    const provider = answering(aDone('a'));

    await receive(provider);

    expect(provider.query.mock.calls.map(([taskId]) => taskId)).toEqual(['task-1']);
    expect(request.attempt()).toMatchObject({ outcome: aDone('a') });
    expect(executions.woken).toEqual(wokenBy('token-1'));
    expect(request.wait()).toMatchObject({ calledBackAt: at(60), queriedAt: at(60) });
    expect(pause).not.toHaveBeenCalled();
    expect(memory.calls()).toEqual({ GetCommand: 2, QueryCommand: 1, UpdateCommand: 3 });
  });

  test.each([
    ['forged', NOT_FOUND],
    ['unknown', { code: 'temporarily_unavailable', retryAfterSeconds: 5 }],
  ] as const)('whose signature is %s is refused, and causes no query', async (told, error) => {
    request.waiting({});
    const provider = answering(aDone('a'));
    const check = jest.fn(async (_now: Date) => told);

    await expect(receive(provider, { check })).rejects.toMatchObject(error);
    expect(check.mock.calls).toEqual([[atSeconds(60)]]);
    expect(provider.query).not.toHaveBeenCalled();
    expect(request.wait()).toBeUndefined();
  });

  test('has its signature checked after its token, so strangers cause no check-up of keys', async () => {
    const check = jest.fn(async () => 'genuine' as const);
    const provider = answering(aDone('a'));

    await expect(receive(provider, { token: 'x', check })).rejects.toMatchObject(NOT_FOUND);
    expect(check).not.toHaveBeenCalled();

    await receive(provider, { check });
    expect(provider.query).toHaveBeenCalledTimes(1);
  });

  test.each<[string, Record<string, string>]>([
    ['has a wrong token', { token: token().replace(/.$/, (last) => (last === '0' ? '1' : '0')) }],
    ['has the token of another request', { token: token(REQUEST_ID) }],
    ['names another request than its token', { requestId: REQUEST_ID }],
    ['has a token of another length', { token: token().slice(1) }],
    ['has a token in capitals', { token: token().toUpperCase() }],
    ['has an empty token', { token: '' }],
    ['has the token of another provider', { token: token(VIDEO_ID, 'modelstudio') }],
    ['names another provider than its token', { provider: 'modelstudio' }],
    ['names an unknown provider', { provider: 'nobody' }],
    ['names a property of every object', { provider: 'constructor' }],
  ])('that %s is not found, and nothing is read', async (_, callback) => {
    const provider = answering(aDone('a'));

    await expect(receive(provider, callback)).rejects.toMatchObject(NOT_FOUND);

    expect(provider.query).not.toHaveBeenCalled();
    expect(memory.calls()).toEqual({});
    expect(request.wait()).toBeUndefined();
  });

  test('queries the provider that has the task, whichever provider calls back', async () => {
    const provider = answering(aDone('a'));
    await receive(provider, { provider: 'modelstudio', token: token(VIDEO_ID, 'modelstudio') });

    expect(provider.query).toHaveBeenCalledTimes(1);
    expect(request.attempt()).toMatchObject({ outcome: aDone('a') });
  });

  test('that is repeated for an unfinished task causes a query per interval, and the last is not lost', async () => {
    const provider = answering(WAITING);
    const interval = Promise.withResolvers<undefined>();
    pause.mockImplementationOnce(() => interval.promise);
    let answered = 0;
    const first = Array.from({ length: 30 }, () => receive(provider).then(() => answered++));
    for (let turn = 0; answered < 29 && turn < 1_000; turn++) await new Promise(setImmediate);
    await receive(provider, {}, 61.5);
    expect([answered, provider.query.mock.calls.length]).toEqual([29, 1]);

    interval.resolve(undefined);
    await Promise.all(first);
    expect(provider.query).toHaveBeenCalledTimes(2);

    executions.wait('token-1');
    request.waiting({ ...(request.wait() as object), taskToken: 'token-1', waitingSince: at(0) });
    await receive(answering(aDone('a')), {}, 62.5);
    expect(pause.mock.calls).toEqual([[2_000], [1_500]]);
    expect(executions.woken).toHaveLength(1);
  });

  test('is not lost when the clock of the function that takes it is behind that of the last query', async () => {
    givenToken();
    await receive(answering(WAITING), {}, 64);

    await receive(answering(aDone('a')), {}, 60.7);

    expect(pause.mock.calls).toEqual([[2_000]]);
    expect(executions.woken).toHaveLength(1);
  });

  test('that waits for the interval to end asks nothing when the request has ended meanwhile', async () => {
    await receive(answering(WAITING));
    const provider = answering(aDone('a'));
    pause.mockImplementationOnce(async () => {
      request.given({ status: 'failed' });
    });
    await receive(provider);

    expect(provider.query).not.toHaveBeenCalled();
  });

  test.each(['succeeded', 'failed'] as const)('for a request that %s changes nothing', async (status) => {
    request.given({ status });
    const before = structuredClone([request.record(), request.attempt(), request.wait()]);
    const provider = answering(aDone('a'));

    await receive(provider);

    expect(provider.query).not.toHaveBeenCalled();
    expect([request.record(), request.attempt(), request.wait()]).toEqual(before);
    expect(executions.client.calls()).toHaveLength(0);
  });

  test('for a request that was deleted changes nothing', async () => {
    memory.reset();

    await receive(answering(aDone('a')));

    expect(memory.partition(`REQUEST#${VIDEO_ID}`)).toEqual([]);
  });

  test('that is repeated wakes once and changes no outcome', async () => {
    givenToken();
    await receive(answering(aDone('a')));
    const outcome = structuredClone(request.attempt());
    const provider = answering({ kind: 'failed', failure: { code: 'provider_error', message: 'no' } });

    await receive(provider, {}, 61);
    await receive(provider, {}, 62);

    expect(provider.query).not.toHaveBeenCalled();
    expect(request.attempt()).toEqual(outcome);
    expect(executions.woken).toHaveLength(1);
  });

  test('twice at once wakes once', async () => {
    givenToken();

    await Promise.all([receive(answering(aDone('a'))), receive(answering(aDone('a')))]);

    expect(executions.woken).toHaveLength(1);
  });

  test('is refused when the provider does not answer, so that it is sent again', async () => {
    const provider = answering({ kind: 'busy', reason: 'down' });

    await expect(receive(provider)).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      retryAfterSeconds: 5,
    });
    expect(request.attempt()).toMatchObject(accepted());

    await receive(answering(aDone('a')), {}, 65);
    expect(request.attempt()).toMatchObject({ outcome: aDone('a') });
  });

  test.each([
    ['the table', () => memory.client.rejects(THROTTLED)],
    ['its secret', () => secrets.client.rejects(THROTTLED)],
  ])('is refused while %s is throttled, so that it is sent again', async (_, throttle) => {
    clearCaches();
    throttle();

    await expect(receive(answering(aDone('a')))).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      retryAfterSeconds: 5,
    });
  });

  test.each([1, 2, 3, 4, 5])(
    'brings no item back of a request that ends and is deleted before call %p to the table',
    async (number) => {
      let calls = 0;
      let left: unknown;
      const items = () => memory.partition(requestKey(VIDEO_ID).PK).map(({ SK }) => SK);
      memory.beforeCall = async () => {
        if (++calls !== number) return;
        memory.beforeCall = () => undefined;
        memory.patch(requestKey(VIDEO_ID), { status: 'failed' });
        await deleteRequest(ACCOUNT_ID, VIDEO_ID, atSeconds(60));
        left = items();
      };

      await receive(answering({ kind: 'busy', reason: 'full', retryAfterSeconds: 60 })).catch(
        () => undefined,
      );

      expect(memory.get(deletedRequestKey(ACCOUNT_ID, VIDEO_ID))).toBeDefined();
      // What the cancelling of its task needs is left until the reconciler has done that.
      expect(items()).toEqual(left);
    },
  );

  test('that comes before the task id is stored is recorded, and read once the execution waits', async () => {
    request.withAttempt({ outcome: undefined, taskId: undefined });
    await receive(answering(aDone('a')), {}, 1);
    expect(request.attempt()?.outcome).toBeUndefined();

    request.withAttempt(accepted());
    executions.wait('token-1');
    await awaitProvider(
      { requestId: VIDEO_ID, taskToken: 'token-1', ...ENTERED },
      leadingTo(answering(aDone('a'))),
      clockAt(2),
    );

    expect(executions.woken).toEqual(wokenBy('token-1'));
  });
});
