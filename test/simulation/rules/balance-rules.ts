import { BALANCE_EVENT_PREFIX } from '../../../core/table/keys.ts';
import { CLOCKS_APART_MS } from '../world/clocks.ts';
import type { World } from '../world/world.ts';
import { problemsOf } from './problems.ts';

const HOUR_MS = 3_600_000;

/** The ids of the events that are due: one for each debit that crossed the threshold of an account's webhook. */
const dueEvents = (world: World): string[] => {
  const entries = world.items('ENTRY#').toSorted((a, b) => Number(a.number) - Number(b.number));
  return world.accounts().flatMap(({ accountId, balanceWebhook }) => {
    if (balanceWebhook === undefined) return [];
    const below = Number((balanceWebhook as { belowThousandths: number }).belowThousandths);
    let before = 0;
    return problemsOf(entries, (entry) => {
      if (entry.accountId !== accountId) return undefined;
      const after = Number(entry.balanceAfterThousandths);
      const isCrossing = before >= below && after < below;
      before = after;
      return isCrossing && `${accountId}_low_${entry.number}`;
    });
  });
};

/** Whether each debit that crossed the threshold of an account's webhook has one event, and each event began to be told. */
export const balanceEventProblems = (world: World): string[] => {
  const events = world.items(BALANCE_EVENT_PREFIX);
  const due = dueEvents(world);
  const low = events.filter(({ type }) => type === 'balance.low').map(({ eventId }) => String(eventId));
  const exhausted = events.filter(({ type }) => type === 'balance.exhausted');
  const isFollowedSoon = ({ accountId, at }: (typeof exhausted)[number]): boolean =>
    exhausted.some((other) => {
      const laterMs = Date.parse(String(other.at)) - Date.parse(String(at));
      return other.accountId === accountId && laterMs > 0 && laterMs < HOUR_MS - CLOCKS_APART_MS;
    });
  const known = new Set(events.map(({ eventId }) => `msg_${eventId}`));
  return [
    ...problemsOf(due, (id) => !low.includes(id) && `[balance] ${id} crossed the threshold untold`),
    ...problemsOf(low, (id) => !due.includes(id) && `[balance] ${id} is told of a crossing that was none`),
    ...problemsOf(
      exhausted,
      (event) => isFollowedSoon(event) && `[balance] ${event.eventId} was followed by another within an hour`,
    ),
    ...problemsOf(
      events,
      ({ eventId, GSI1PK }) => GSI1PK !== undefined && `[balance] ${eventId} is still open work`,
    ),
    ...problemsOf(
      world.receivers.toldOfBalance.keys(),
      (webhookId) => !known.has(webhookId) && `[balance] ${webhookId} was told of nothing`,
    ),
  ];
};

/** Whether each event was delivered, unless its delivery was stopped. Once all attempts were made. */
export const untoldBalances = (world: World, deliveriesAborted: ReadonlySet<string>): string[] =>
  problemsOf(
    world.items(BALANCE_EVENT_PREFIX),
    ({ eventId }) =>
      !deliveriesAborted.has(String(eventId)) &&
      (world.receivers.toldOfBalance.get(`msg_${eventId}`) ?? 0) < 2 &&
      `[balance] ${eventId} was never delivered`,
  );
