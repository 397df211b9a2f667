import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { failedBeforeStoring, givenUp } from '../../../../core/ending/failed.ts';
import { settled } from '../../../../core/ending/settled.ts';
import { logger } from '../../../../core/observability.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { providerAttemptKey, requestKey } from '../../../../core/table/keys.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAttempt, REQUEST_ID } from '../../builders/entities.ts';
import { aDone } from '../../builders/providers.ts';
import '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { trafficCounted } from '../../fakes/metrics.ts';
import '../../fakes/fresh-first-attempts.ts';
import {
  account,
  clock,
  dueKeyOf,
  EXPIRE,
  FAILURE,
  given as givenRequest,
  outputs,
  request,
  webhookUrl,
} from './an-ending.ts';

const info = jest.spyOn(logger, 'info');
const ends = () => info.mock.calls.filter(([message]) => message === 'request ended');
let counted = trafficCounted();
beforeEach(() => {
  info.mockClear();
  counted = trafficCounted();
});
const given = (overrides: Partial<ImageRequest> = {}) => givenRequest({ images: 2, ...overrides });
/** Calls from 4 s after the creation, the last of which its provider had done 26 s after it. */
const givenCalls = (overrides: Partial<ImageRequest> = {}) => {
  given({ dispatchedAt: atSeconds(4).toISOString(), ...overrides });
  for (const [call, seconds] of [20, 26].entries()) {
    const finishedAt = atSeconds(seconds).toISOString();
    memory.put(providerAttemptKey(REQUEST_ID, call, 0), anAttempt({ call, finishedAt, outcome: aDone('a') }));
  }
};
const fail = () => endRequest(REQUEST_ID, failedBeforeStoring(FAILURE), { clock });

const succeeded = { model: 'xQI3Pro', outcome: 'succeeded' };
const failed = { model: 'xQI3Pro', outcome: 'failed' };
const ids = { requestId: REQUEST_ID, accountId: ACCOUNT_ID, model: 'xQI3Pro' };

describe('the end of a request is counted, and one line of the log', () => {
  test('with its model, its outcome, and the seconds of each part', async () => {
    givenCalls({ outputs: outputs(2, 0), webhookUrl });

    await endRequest(REQUEST_ID, settled, { clock });

    expect(counted()).toEqual([
      ['RequestsEnded', succeeded],
      ['RequestsFailed', {}, 0],
      ['TimeToDone', succeeded, 30],
      ['SecondsAtProvider', { model: 'xQI3Pro' }, 22],
      ['SecondsPerOutput', { model: 'xQI3Pro' }, 22],
    ]);
    const parts = { totalSeconds: 30, queueSeconds: 4, providerSeconds: 22, storingSeconds: 4 };
    expect(ends()).toEqual([
      ['request ended', { ...ids, outcome: 'succeeded', code: undefined, ...parts, hasWebhook: true }],
    ]);
  });

  test('with what is refunded, in xTokens', async () => {
    given({ outputs: outputs(1, 1) });

    await endRequest(REQUEST_ID, settled, { clock });

    expect(counted()).toContainEqual(['XTokensRefunded', {}, 4]);
  });

  test('with its failure, once, whoever ends it and however often', async () => {
    given();

    await Promise.all([1, 2, 3].map(fail));
    await fail();

    expect(counted()).toEqual([
      ['RequestsEnded', failed],
      ['RequestsFailed', {}],
      ['TimeToDone', failed, 30],
      ['XTokensRefunded', {}, 8],
    ]);
    const parts = { totalSeconds: 30, queueSeconds: 30 };
    expect(ends()).toEqual([
      ['request ended', { ...ids, outcome: 'failed', code: 'provider_error', ...parts, hasWebhook: false }],
    ]);
  });

  test.each([
    ['its content', { code: 'content_policy', message: 'No.' }],
    [
      'an input',
      { code: 'provider_error', message: 'No.', input: { reason: 'small', field: 'references[0]' } },
    ],
  ] as const)('apart from failures when it was refused for %s', async (_, failure) => {
    given();

    await endRequest(REQUEST_ID, failedBeforeStoring(failure), { clock });

    expect(counted()).toContainEqual(['RequestsRefused', {}]);
    expect(counted().map(([name]) => name)).not.toContain('RequestsFailed');
  });

  test('with its seconds at the provider when it failed too', async () => {
    givenCalls();

    await fail();

    expect(counted()).toContainEqual(['SecondsAtProvider', { model: 'xQI3Pro' }, 22]);
  });
});

test('a request with all its outputs has no task to cancel, whatever its calls say', async () => {
  given({ outputs: outputs(2, 0), dispatchedAt: atSeconds(4).toISOString() });
  const outcome = { kind: 'accepted', taskId: 'task-1' } as const;
  memory.put(providerAttemptKey(REQUEST_ID, 0, 0), anAttempt({ outcome }));

  await endRequest(REQUEST_ID, settled, { clock });

  expect(dueKeyOf()).toEqual(EXPIRE);
});

test('a request that changes at each of four reads is not ended', async () => {
  given();
  let reads = 0;
  const changing = { ...settled, prepare: async () => ++reads > 0 };

  await expect(endRequest(REQUEST_ID, changing, { clock })).rejects.toThrow(
    `Request ${REQUEST_ID} changed at each of 4 reads, and is not ended.`,
  );
  expect(reads).toBe(4);
  expect(request()).toMatchObject({ status: 'processing' });
});

describe('a request that was refunded and then set back to processing', () => {
  test.each([
    ['fails', fail],
    ['is given up', () => endRequest(REQUEST_ID, givenUp(FAILURE), { clock })],
    ['is settled', () => endRequest(REQUEST_ID, settled, { clock })],
  ])('is not refunded again when it %s', async (_, end) => {
    given();
    await fail();
    const balance = account()?.balanceThousandths;
    memory.patch(requestKey(REQUEST_ID), { status: 'processing' });

    await end();

    expect(account()?.balanceThousandths).toBe(balance);
    expect(request()).toMatchObject({ status: 'processing' });
  });
});

test('the claim of an ended request is forgotten, and its route is kept', async () => {
  const assignment = { route: 'modelstudio/qwen-image', number: 1 };
  given({ assignment: { ...assignment, claimId: 'claim' } });

  await endRequest(REQUEST_ID, failedBeforeStoring(FAILURE), { clock });

  expect(request()).toMatchObject({ status: 'failed', assignment });
  expect(request()?.assignment).toEqual(assignment);
});
