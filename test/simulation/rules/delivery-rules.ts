import type { Simulation } from '../runs/simulation.ts';
import { untoldBalances } from './balance-rules.ts';

/** More tries than the redeliveries and restarts of one run can come to. */
const TRIES_OF_GONE = 6;
/** The first pause of the schedule is 5 s, the second 5 min. */
const FIRST_PAUSE_MS = 120_000;
/** The second pause, prolonged at random: it follows an attempt that was claimed and whose process died. */
const SECOND_PAUSE_MS = 360_000;

/**
 * The problems of webhooks, once all attempts were made. Every end is delivered. No attempts follow a 410. A second attempt comes
 * soon, unless something was wrong.
 */
export const deliveryProblems = ({ world, deliveriesAborted }: Simulation): string[] => {
  const { lateness, receivers, witness } = world;
  // All receivers are on one host, and an account's deliveries to a slow host are put off for a while.
  const putOff = new Set(
    receivers.told
      .filter(({ receiver }) => receiver === 'slow')
      .map((one) => witness.lives.get(one.requestId)?.accountId),
  );
  const ofRequests = witness.all().flatMap(({ requestId, accountId, accepted, removedAt }) => {
    const told = receivers.told.filter((one) => one.requestId === requestId);
    const [first] = told;
    const isGone = first?.receiver === 'gone';
    // An attempt that fails on its way is an attempt: the next one comes after the next pause of the schedule.
    const toldAt = first?.at ?? Number.POSITIVE_INFINITY;
    const nextAt = receivers.triedAt.get(requestId)?.find((at) => at > toldAt) ?? toldAt;
    const pauseMs = first?.taken === false ? nextAt - toldAt : 0;
    const excusedMs = lateness.excusedMs(toldAt, nextAt);
    const isDue =
      accepted.webhookUrl !== undefined && removedAt === undefined && !deliveriesAborted.has(requestId);
    const isDelivered = String(accepted.webhookUrl).endsWith('gone')
      ? told.length > 0
      : told.some(({ taken }) => taken);
    return [
      ...(isDue && !isDelivered ? [`the end of ${requestId} was never delivered`] : []),
      ...(isGone && told.length > TRIES_OF_GONE
        ? [`[gone] the receiver of ${requestId} is gone and was told ${told.length} times`]
        : []),
      ...(!isGone &&
      !putOff.has(accountId) &&
      pauseMs > FIRST_PAUSE_MS + excusedMs + (excusedMs > 0 ? SECOND_PAUSE_MS : 0)
        ? [`[first pause] the end of ${requestId} was tried again after ${pauseMs} ms`]
        : []),
    ];
  });
  return [...ofRequests, ...untoldBalances(world, deliveriesAborted)];
};
