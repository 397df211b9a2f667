import { callbackUrl } from '../../core/provider-calls/provider-urls.ts';
import { findProviderWait } from '../../core/provider-calls/provider-waits.ts';
import type { ProviderAnswer } from '../../core/provider-calls/providers.ts';
import { findRequest } from '../../core/requests/requests.ts';
import { catchUpOnRead } from '../../core/waiting/catch-up.ts';
import { receiveCallback } from '../../core/waiting/receive-callback.ts';
import { aStoredVideo, VIDEO_ID } from '../unit/builders/entities.ts';
import { INPUT, runGeneration } from './generation.ts';
import type { Execution, Script, Surroundings } from './harness.ts';
import { executions, realFunctions } from './stored-request.ts';
import { stubProvider, taskFinishedAt } from './stub-provider.ts';

export type ProviderRoute = ReturnType<typeof stubProvider>;

const FINISHED: ProviderAnswer = {
  kind: 'done',
  outputs: [{ url: 'https://files.provider.example/v.mp4' }],
};
const ACCEPTED: ProviderAnswer = { kind: 'accepted', taskId: 'task-1' };
export const CALLING_BACK = { callsBack: true };
export const POLLED = { callsBack: false };

/** A provider whose video task finishes with `answer` so many seconds after `NOW`. */
export const finishedAfter = (
  seconds: number,
  { callsBack }: { callsBack: boolean },
  answer: ProviderAnswer = FINISHED,
): ProviderRoute =>
  stubProvider(
    'asynchronous',
    { submit: [ACCEPTED], query: taskFinishedAt(seconds, answer) },
    () => callsBack,
  );

/** Runs the `generation` workflow for the stored video request with the real functions, except `others`. */
export const runVideo = (
  providerRouteOf: ProviderRoute,
  around: (surroundings: Surroundings) => void = () => undefined,
  others: Script = {},
): Promise<Execution> =>
  runGeneration(
    { ...realFunctions(providerRouteOf, VIDEO_ID, [aStoredVideo()]), ...others },
    (surroundings) => {
      executions.waitingTokens = surroundings.tokens;
      around(surroundings);
    },
    { ...INPUT, requestId: VIDEO_ID },
  );

/** A caller's read of the record. */
const read = async (providerRouteOf: ProviderRoute): Promise<void> => {
  const [request, wait] = await Promise.all([findRequest(VIDEO_ID), findProviderWait(VIDEO_ID)]);
  if (request) await catchUpOnRead(request, wait, providerRouteOf);
};

/** A read every 5 s, as the guide advises, between two instants. */
export const readsFrom =
  (first: number, providerRouteOf: ProviderRoute, last = 7_200) =>
  ({ at }: Surroundings): void => {
    for (let second = first; second <= last; second += 5) at(second, () => read(providerRouteOf));
  };

/** The provider's call of its callback URL. */
export const callBack = async (providerRouteOf: ProviderRoute): Promise<void> => {
  const url = await callbackUrl('modelark', VIDEO_ID);
  const [provider = '', requestId = '', token = ''] = url.split('/').slice(-3);
  await receiveCallback({ provider, requestId, token }, providerRouteOf);
};
