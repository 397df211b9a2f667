import { BALANCE_EVENT_PREFIX } from '../../core/table/keys.ts';
import { CLOCKS_APART_MS } from './clocks.ts';
import type { Simulation } from './simulation.ts';

const HOUR_MS = 3_600_000;

/** Whether each debit that crossed the threshold of an account's webhook has one event, and each event began to be told. */
export const balanceEventProblems = ({ world }: Simulation): string[] => {
  const events = world.items(BALANCE_EVENT_PREFIX);
  const entries = world.items('ENTRY#').toSorted((a, b) => Number(a.number) - Number(b.number));
  const due = world.items('ACCOUNT').flatMap(({ accountId, balanceWebhook }) => {
    if (balanceWebhook === undefined) return [];
    const below = Number((balanceWebhook as { belowThousandths: number }).belowThousandths);
    let before = 0;
    return entries.flatMap((entry) => {
      if (entry.accountId !== accountId) return [];
      const after = Number(entry.balanceAfterThousandths);
      const isCrossing = before >= below && after < below;
      before = after;
      return isCrossing ? [`${accountId}_low_${entry.number}`] : [];
    });
  });
  const low = events.filter(({ type }) => type === 'balance.low').map(({ eventId }) => String(eventId));
  const exhausted = events.filter(({ type }) => type === 'balance.exhausted');
  const tooSoon = exhausted.filter(({ accountId, at }) =>
    exhausted.some((other) => {
      const laterMs = Date.parse(String(other.at)) - Date.parse(String(at));
      return other.accountId === accountId && laterMs > 0 && laterMs < HOUR_MS - CLOCKS_APART_MS;
    }),
  );
  const known = new Set(events.map(({ eventId }) => `msg_${eventId}`));
  return [
    ...due.filter((id) => !low.includes(id)).map((id) => `[balance] ${id} crossed the threshold untold`),
    ...low
      .filter((id) => !due.includes(id))
      .map((id) => `[balance] ${id} is told of a crossing that was none`),
    ...tooSoon.map(({ eventId }) => `[balance] ${eventId} was followed by another within an hour`),
    ...events
      .filter(({ GSI1PK }) => GSI1PK !== undefined)
      .map(({ eventId }) => `[balance] ${eventId} is still open work`),
    ...[...world.receivers.toldOfBalance.keys()]
      .filter((webhookId) => !known.has(webhookId))
      .map((webhookId) => `[balance] ${webhookId} was told of nothing`),
  ];
};

/** Whether each event was delivered, unless its delivery was stopped. Once all attempts were made. */
export const untoldBalances = ({ world, deliveriesAborted }: Simulation): string[] =>
  world
    .items(BALANCE_EVENT_PREFIX)
    .filter(({ eventId }) => !deliveriesAborted.has(String(eventId)))
    .filter(({ eventId }) => (world.receivers.toldOfBalance.get(`msg_${eventId}`) ?? 0) < 2)
    .map(({ eventId }) => `[balance] ${eventId} was never delivered`);
