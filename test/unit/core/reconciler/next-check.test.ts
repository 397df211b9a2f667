import { expect, test } from '@jest/globals';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { VIDEO_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { at, dueAt, dueKeyOf, executions, given, listed, request } from '../../builders/reconciling.ts';
import { checkDueItems } from '../../builders/runs.ts';
import { answering } from '../../builders/waiting-request.ts';

const DEADLINES = { VIDEO_DEADLINE_SECONDS: '200', QUEUE_DEADLINE_SECONDS: '3600' };
const check = async (seconds: number, answer: ProviderAnswer, callsBack = false) => {
  const provider = answering(answer);
  provider.callsBack.mockReturnValue(callsBack);
  return checkDueItems(seconds, leadingTo(provider));
};

/** A video whose call began at `NOW`, with its deadline after 200 s. */
const givenVideo = (): void => {
  request.given().waiting({ taskToken: 'token-1', waitingSince: at(0) });
  executions.put('generation', VIDEO_ID, 'RUNNING');
  executions.wait('token-1');
  dueAt(0);
};

test('a queued request is checked half a minute after its time in the queue at the latest', () =>
  withEnvironment(DEADLINES, async () => {
    const requestId = given(-3_500);
    executions.put('generation', requestId, 'RUNNING');

    await check(0, { kind: 'waiting' });

    expect(dueKeyOf(requestId)).toEqual(listed('CHECK', 130, requestId));
  }));

test.each<[string, ProviderAnswer, boolean]>([
  ['whose provider calls back', { kind: 'waiting' }, true],
  ['whose execution was woken', aDone('a'), false],
])('a video %s is checked half a minute after its deadline at the latest', (_, answer, callsBack) =>
  withEnvironment(DEADLINES, async () => {
    givenVideo();

    expect(await check(4, answer, callsBack)).toEqual([{ kind: 'done' }]);

    expect(dueKeyOf(VIDEO_ID)).toEqual(listed('CHECK', 230));
  }),
);

test('an open task is queried half a minute after its deadline at the latest', () =>
  withEnvironment(DEADLINES, async () => {
    givenVideo();

    expect(await check(225, { kind: 'waiting' })).toMatchObject([
      { kind: 'open', nextMs: Date.parse(at(230)) },
    ]);
  }));
