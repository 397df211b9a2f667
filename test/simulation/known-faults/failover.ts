import { mayBeTaken } from '../rules/failover-rules.ts';
import type { Deployment } from '../world/aws/step-functions.ts';
import type { OutageMode } from '../world/engine/outages.ts';
import { inEach, type Service, VIDEO_MODEL } from './service.ts';

/** Both models lead to ModelArk first. */
const SECOND = {
  'xSD4.5': { provider: 'modelstudio', upstreamModel: 'qwen-image-2' },
  [VIDEO_MODEL]: { provider: 'modelstudio', upstreamModel: 'wan-2' },
};
const MODES = ['refuses', 'hangs', 'revoked', 'breaks'] as const satisfies readonly OutageMode[];
const OUTAGES = MODES.flatMap((mode) =>
  [1, 15].flatMap((minutes) => (['image', 'video'] as const).map((kind) => ({ mode, minutes, kind }))),
);
type Outage = (typeof OUTAGES)[number];
/** From one request to the next. */
const EVERY_MS = 7_000;
/** From the beginning of a world to the outage, and from its end to the last request. */
const AROUND_MS = 30_000;
/** By then a route that fails is paused; a call for a task waits for its answer for a minute. */
const KNOWN_MS = 90_000;
const SETTLED_MS = 2 * 3_600_000;

/** The results of requests with two routes while one of their providers was out of order. */
export interface AroundOutage {
  requests: number;
  /** Requests with a call that the provider that was out of order may have taken. */
  taken: number;
  /** Requests of the others that did not succeed. */
  lost: number;
  /** Requests with more than one call that may have been taken. */
  repeated: number;
  /** Calls at the provider that was out of order, from 90 s after the beginning of the outage to its end. */
  callsWhileOpen: number;
  /**
   * The longest time from acceptance to the first call in that period, in milliseconds, of requests that did not try
   * the provider.
   */
  longestMs: number;
}

/** ModelArk is out of order in each way, for a minute or fifteen, while images or videos are asked for. */
export const measureFailovers = (deployment: Deployment): Promise<(Outage & AroundOutage)[]> =>
  inEach(deployment, OUTAGES, () => ({ second: SECOND }), measureFailover);

const measureFailover = async (
  { world, createImage, createVideo, record }: Service,
  { mode, minutes, kind }: Outage,
): Promise<AroundOutage> => {
  const { scheduler, evidence } = world;
  const accepted = new Map<string, number>();
  const from = scheduler.now + AROUND_MS;
  const to = from + minutes * 60_000;
  scheduler.after(AROUND_MS, () => world.outages.add({ service: 'modelark', mode, lengthMs: to - from }));
  while (scheduler.now < to + AROUND_MS) {
    // A timeout of its provider pauses the end-user for three minutes.
    const created = kind === 'image' ? createImage('instant') : createVideo('instant');
    const requestId = await created.catch(() => undefined);
    if (requestId !== undefined) accepted.set(requestId, scheduler.now);
    await scheduler.advance(EVERY_MS);
  }
  const status = (requestId: string): unknown => record(requestId)?.status;
  const isOpen = (requestId: string): boolean => !['succeeded', 'failed'].includes(String(status(requestId)));
  const end = scheduler.now + SETTLED_MS;
  while ([...accepted.keys()].some(isOpen) && scheduler.now < end) await scheduler.advance(60_000);
  const requests = [...accepted.keys()].map((requestId) => {
    const calls = evidence.callsOf(requestId);
    const kept = calls.filter(mayBeTaken);
    const isBroken = ({ provider, sentAt }: (typeof calls)[number]): boolean =>
      provider === 'modelark' && sentAt >= from - KNOWN_MS && sentAt < to;
    return { requestId, calls, kept, isTaken: kept.some(isBroken) };
  });
  const isWhileOpen = (at: number): boolean => at > from + KNOWN_MS && at < to;
  const waits = requests.flatMap(({ requestId, calls: [first] }) => {
    const at = accepted.get(requestId) ?? 0;
    return isWhileOpen(at) && first?.provider === 'modelstudio' ? [first.sentAt - at] : [];
  });
  return {
    requests: requests.length,
    taken: requests.filter(({ isTaken }) => isTaken).length,
    lost: requests.filter(({ isTaken, requestId }) => !isTaken && status(requestId) !== 'succeeded').length,
    repeated: requests.filter(({ kept }) => kept.length > 1).length,
    callsWhileOpen: requests
      .flatMap(({ calls }) => calls)
      .filter(({ provider, sentAt }) => provider === 'modelark' && isWhileOpen(sentAt)).length,
    longestMs: Math.max(0, ...waits),
  };
};
