import type { Instant } from '../time.ts';

/** A limit of a provider's route: most calls running at once, and most calls a second. Null or absent: no limit. */
export interface RouteLimits {
  maxRunning?: number | null | undefined;
  requestsPerSecond?: number | null | undefined;
}

/**
 * A gate of a route. A route's limits are divided among its gates, so that none is written too often. `permits` is
 * undefined without a limit of running calls, `intervalMs`, between two starts, without one of starts.
 */
export interface Gate {
  name: string;
  /** `<provider>/<upstreamModel>`: what the provider limits, whichever of our models leads there. */
  route: string;
  permits: number | undefined;
  intervalMs: number | undefined;
}

/** A gate's item takes 1,000 write units a second. With 25 permits it has up to 3 KB: 3 units a write. */
const MAX_PERMITS_PER_GATE = 25;
/** A start takes up to 14 units with its wait. */
const MAX_STARTS_PER_SECOND = 25;

/** The gates of a route; none when it has no limit. */
export const gatesOf = (route: string, { maxRunning, requestsPerSecond }: RouteLimits): Gate[] => {
  if (maxRunning == null && requestsPerSecond == null) return [];
  const wanted = Math.max(
    1,
    Math.ceil((maxRunning ?? 0) / MAX_PERMITS_PER_GATE),
    Math.ceil((requestsPerSecond ?? 0) / MAX_STARTS_PER_SECOND),
  );
  // A gate without a permit would let nobody in.
  const count = Math.min(wanted, maxRunning ?? wanted);
  return Array.from({ length: count }, (_, number) => ({
    name: `${route}#${number}`,
    route,
    permits: maxRunning == null ? undefined : Math.floor((maxRunning + number) / count),
    intervalMs: requestsPerSecond == null ? undefined : (1000 * count) / requestsPerSecond,
  }));
};

/** The gates at which a request asks for a permit, one or two: always the same. It waits at the last. */
export const gatesFor = (requestId: string, gates: readonly Gate[]): Gate[] => {
  const hash = hashOf(requestId);
  const first = hash % gates.length;
  const second =
    (first + 1 + (Math.floor(hash / gates.length) % Math.max(1, gates.length - 1))) % gates.length;
  return [...new Set([first, second])].flatMap((index) => gates[index] ?? []);
};

const hashOf = (text: string): number =>
  [...text].reduce((hash, character) => (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003, 0);

/** A permit: how many calls its request may make at once, since when, when to check its holder, and when it may start. */
export interface Permit {
  accountId: string;
  weight: number;
  takenMs: number;
  untilMs: number;
  /** Absent: at once. */
  startMs?: number | undefined;
}

/** A gate as stored. */
export interface GateState {
  /** The weight of all permits. */
  used: number;
  /** The stamp of the last request that began to wait; undefined when none waits. */
  queued: string | undefined;
  /** The earliest start of the next call. */
  nextStartMs: number | undefined;
  /** The permits, by the request that holds them. */
  permits: ReadonlyMap<string, Permit>;
}

/** A permit is given at most this long before its start. */
export const HORIZON_MS = 5_000;

/** How many calls a request may make at once. */
export const weightOf = (calls: number, { permits = calls }: Gate): number => Math.min(calls, permits);

/** The latest `nextStartMs` with which a gate gives a permit. Without a rate, one to come is a pause that the provider asked for. */
export const latestStartMs = ({ intervalMs }: Gate, nowMs: number): number =>
  intervalMs === undefined ? nowMs : nowMs + HORIZON_MS;

/** Whether a gate can give a permit of this weight now. */
export const hasRoom = (
  gate: Gate,
  { used, nextStartMs }: Pick<GateState, 'used' | 'nextStartMs'>,
  weight: number,
  nowMs: number,
): boolean =>
  (gate.permits === undefined || used + weight <= gate.permits) &&
  (nextStartMs === undefined || nextStartMs <= latestStartMs(gate, nowMs));

/** When a call starts that is let in now, and when the next one after `starts` calls. */
export const startOf = (
  { intervalMs = 0 }: Gate,
  { nextStartMs = 0 }: Pick<GateState, 'nextStartMs'>,
  starts: number,
  nowMs: number,
): { startMs: number; nextStartMs: number } => {
  const startMs = Math.max(nowMs, nextStartMs);
  return { startMs, nextStartMs: startMs + Math.ceil(starts * intervalMs) };
};

/** An account with requests that wait at a gate. */
export interface WaitingAccount {
  accountId: string;
  /** Changes whenever one of its requests begins to wait. */
  touched: string;
  /** When one of its requests was last let in or gave its permit back, or else when the account began to wait. */
  servedAt: Instant;
  /** When its oldest request was created, as far as known. */
  headAt: Instant;
}

/** Calls of each account that run, or are about to. */
export const runningOf = ({ permits }: Pick<GateState, 'permits'>): Map<string, number> => {
  const running = new Map<string, number>();
  for (const { accountId, weight } of permits.values()) {
    running.set(accountId, (running.get(accountId) ?? 0) + weight);
  }
  return running;
};

/**
 * The account whose oldest request is next: the one with the fewest calls running, then the one served longest ago,
 * then the one with the oldest request. Undefined when nobody waits.
 */
export const chooseAccount = (
  accounts: readonly WaitingAccount[],
  running: ReadonlyMap<string, number>,
): WaitingAccount | undefined => {
  const rank = ({ accountId, servedAt, headAt }: WaitingAccount) =>
    [running.get(accountId) ?? 0, servedAt, headAt, accountId] as const;
  return accounts.toSorted((one, other) => compare(rank(one), rank(other)))[0];
};

const compare = (one: readonly (number | string)[], other: readonly (number | string)[]): number => {
  const index = one.findIndex((value, at) => value !== other[at]);
  const [left, right] = [one[index], other[index]];
  if (left === undefined || right === undefined) return 0;
  return left < right ? -1 : 1;
};

/** A permit given to a waiting request is checked after this long: whoever gave it may have died before waking the request. */
const FIRST_LEASE_MS = 60_000;
/** A holder that was found at work is checked again after this long. */
const RENEWED_LEASE_MS = 300_000;

/** When to check the holder of a permit taken now. */
export const leaseEndMs = (nowMs: number, isRenewed = false): number =>
  nowMs + (isRenewed ? RENEWED_LEASE_MS : FIRST_LEASE_MS);

/** The requests whose leases have run out. A lease says when to check the holder, never that its permit is free. */
export const holdersToCheck = ({ permits }: Pick<GateState, 'permits'>, nowMs: number): string[] =>
  [...permits].flatMap(([requestId, { untilMs }]) => (untilMs <= nowMs ? [requestId] : []));
