import { routeLimitPartition } from '../../../core/table/keys.ts';
import type { Deployment } from '../world/aws/step-functions.ts';
import { inEach, inService, type Service, VIDEO_ROUTE } from './service.ts';

/** The outage meets other parts of a run of the loop with each, and other parts of a tick. */
const PHASES_MS = [0, 10_300, 20_600, 30_900, 41_200, 51_500];

const OUTAGES = (['throttles', 'hangs'] as const).flatMap((mode) =>
  [4, 8, 15].flatMap((outageSeconds) => PHASES_MS.map((phaseMs) => ({ mode, outageSeconds, phaseMs }))),
);
type Outage = (typeof OUTAGES)[number];

/** The partition of a route limit is out of order from the moment that the running video is done at its provider, and another waits. */
export const measureOutages = (deployment: Deployment) =>
  inEach(deployment, OUTAGES, ({ phaseMs }) => ({ limits: { maxRunning: 1 }, phaseMs }), measureOutage);

/** How long after the end of the outage the next request is called, in milliseconds. */
const measureOutage = async (
  { world, createVideo, until, calledAt, calledBy, doneAt }: Service,
  { mode, outageSeconds }: Outage,
): Promise<{ calledAfterMs: number }> => {
  const running = await createVideo('slow');
  await until(() => calledAt(running) < world.scheduler.now);
  const next = await createVideo('instant');
  await world.scheduler.advance(doneAt(running) - world.scheduler.now);
  const lengthMs = outageSeconds * 1000;
  world.outages.add({ service: 'table', mode, lengthMs, partition: routeLimitPartition(VIDEO_ROUTE) });
  const endsAt = world.scheduler.now + lengthMs;
  return { calledAfterMs: (await calledBy(next)) - endsAt };
};

const WAITING = 6;

/** How the requests behind a task that hangs are called. */
export interface BesideHanging {
  /** How many of them were called while the task hangs. */
  called: number;
  /** From the end of each task to the call that takes its place, in milliseconds. */
  calledAfterMs: number[];
  mostAtOnce: number;
}

/** One of two permits is held by a task that never ends. Six requests wait for the other. */
export const measureHanging = (deployment: Deployment): Promise<BesideHanging> =>
  inService(deployment, { limits: { maxRunning: 2, requestsPerSecond: 30 } }, async (service) => {
    const { world, createVideo, until, calledAt, doneAt, record } = service;
    const hanging = await createVideo('never');
    await until(() => calledAt(hanging) < world.scheduler.now);
    const ids = [await createVideo('slow')];
    await until(() => calledAt(ids[0] as string) < world.scheduler.now);
    while (ids.length <= WAITING) ids.push(await createVideo('instant'));
    const hasEnded = (id: string): boolean => !['queued', 'processing'].includes(String(record(id)?.status));
    await until(() => hasEnded(hanging) || ids.every((id) => doneAt(id) <= world.scheduler.now));
    const calls = ids
      .filter((id) => calledAt(id) <= world.scheduler.now)
      .sort((one, other) => calledAt(one) - calledAt(other));
    const runningAt = (at: number): number =>
      [hanging, ...calls].filter((id) => calledAt(id) <= at && at < doneAt(id)).length;
    return {
      called: calls.length - 1,
      calledAfterMs: calls.slice(1).map((id, index) => calledAt(id) - doneAt(calls[index] as string)),
      mostAtOnce: Math.max(...calls.map((id) => runningAt(calledAt(id)))),
    };
  });
