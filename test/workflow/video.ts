import '../unit/builders/environment.ts';
import { awaitProvider, catchUpOnRead } from '../../core/catch-up.ts';
import { dispatchRequest } from '../../core/dispatch-request.ts';
import { pollProvider } from '../../core/poll-provider.ts';
import { callbackUrl, receiveCallback } from '../../core/provider-callbacks.ts';
import { findProviderWait } from '../../core/provider-waits.ts';
import type { ProviderAnswer } from '../../core/providers.ts';
import { findRequest, recordOutputs } from '../../core/requests.ts';
import { aStoredVideo, VIDEO_ID } from '../unit/builders/entities.ts';
import { runGeneration, tokenIn } from './generation.ts';
import type { Behaviour, Execution, Script, Surroundings } from './harness.ts';
import { executions, failRequest, settleRequest } from './stored-request.ts';
import { stubUpstream, taskOverAt } from './stub-upstream.ts';

export type Upstream = ReturnType<typeof stubUpstream>;

export const FINISHED: ProviderAnswer = {
  kind: 'done',
  outputs: [{ url: 'https://files.provider.example/v.mp4' }],
};
export const ACCEPTED: ProviderAnswer = { kind: 'accepted', taskId: 'task-1' };
export const CALLING_BACK = { callsBack: true };
export const POLLED = { callsBack: false };

/** A provider of video tasks that is over with one so many seconds after `NOW`. */
export const overAfter = (
  seconds: number,
  { callsBack }: { callsBack: boolean },
  answer: ProviderAnswer = FINISHED,
): Upstream =>
  stubUpstream('asynchronous', { submit: [ACCEPTED], query: taskOverAt(seconds, answer) }, () => callsBack);

/** The real function behind "Wait for provider". */
export const awaits =
  (upstreamOf: Upstream): Behaviour =>
  (payload) =>
    awaitProvider(VIDEO_ID, tokenIn(payload), upstreamOf);

/** The real functions of every task but storing, which only records here that the file was stored. */
const realFunctions = (upstreamOf: Upstream): Script => ({
  'dispatch-request': () => dispatchRequest(VIDEO_ID, upstreamOf),
  'await-provider': awaits(upstreamOf),
  'poll-provider': () => pollProvider(VIDEO_ID, upstreamOf),
  'store-outputs': () => recordOutputs(VIDEO_ID, [aStoredVideo()]),
  'settle-request': settleRequest,
  'fail-request': failRequest,
});

/** Runs the `generation` workflow for the video request in the table, with the real functions but for `others`. */
export const runVideo = (
  upstreamOf: Upstream,
  around: (surroundings: Surroundings) => void = () => undefined,
  others: Script = {},
): Promise<Execution> =>
  runGeneration(
    { ...realFunctions(upstreamOf), ...others },
    (surroundings) => {
      executions.waiters = surroundings.tokens;
      around(surroundings);
    },
    { requestId: VIDEO_ID },
  );

/** What a caller's read of the record sets off. */
export const read = async (upstreamOf: Upstream): Promise<void> => {
  const [request, wait] = await Promise.all([findRequest(VIDEO_ID), findProviderWait(VIDEO_ID)]);
  if (request) await catchUpOnRead(request, wait, upstreamOf);
};

/** A read every 5 s, as callers are told to, from some second on and up to another. */
export const readsFrom =
  (first: number, upstreamOf: Upstream, last = 7_200) =>
  ({ at }: Surroundings): void => {
    for (let second = first; second <= last; second += 5) at(second, () => read(upstreamOf));
  };

/** What the provider's call of the URL it was given sets off. */
export const callBack = async (upstreamOf: Upstream): Promise<void> => {
  const url = await callbackUrl('modelark', VIDEO_ID);
  const [provider = '', requestId = '', token = ''] = url.split('/').slice(-3);
  await receiveCallback({ provider, requestId, token }, upstreamOf);
};

/** How often the provider was polled. */
export const looks = ({ path }: Execution): number =>
  path.filter((state) => state === 'Poll provider').length;

/** The numbers after `last` in steps, up to the first that reaches `end`. */
export const nextEvery = (step: number, last: number, end: number): number[] =>
  last >= end ? [] : [last + step, ...nextEvery(step, last + step, end)];
