import { AsyncLocalStorage } from 'node:async_hooks';
import type { Failure } from '../errors.ts';
import type { RequestKind } from '../ids.ts';
import type { ProviderId } from '../provider-names.ts';
import type { StoredRequest } from '../requests/request-rules.ts';

/** An output of a provider call: its temporary URL, or the failure to make it. */
export type ProviderOutput = { url: string } | { failure: Failure };

/** Whether a provider accepted a creation call, and so may work and charge for the call. */
export const TAKEN = ['no', 'unknown', 'yes'] as const;
export type Taken = (typeof TAKEN)[number];

/**
 * Why a provider did not accept a call that another provider may accept: no connection, throttling, our quota used up, or a
 * refusal of our key, account or model.
 */
export const OBSTACLES = ['unreached', 'throttled', 'quota', 'access'] as const;
export type Obstacle = (typeof OBSTACLES)[number];

/** Usage that a provider reports and bills; absent figures are not reported. Seconds are of videos. */
export interface ProviderUsage {
  images?: number | undefined;
  inputSeconds?: number | undefined;
  outputSeconds?: number | undefined;
}

/** A provider's own error, shown to operators and never to a caller. */
export interface UpstreamError {
  code: string;
  message?: string | undefined;
}

/**
 * A provider's answer: its meaning, independent of the wire format, and the provider's own id of the HTTP call, when it sent one. The id
 * is for logs, and not stored.
 */
export type ProviderAnswer = ProviderMeaning & { providerRequestId?: string | undefined };

type ProviderMeaning =
  /** Finished; at least one output has a URL. `seed` is the one that the provider reports. */
  | { kind: 'done'; outputs: ProviderOutput[]; usage?: ProviderUsage | undefined; seed?: number | undefined }
  /** A task was created; query it by this id. */
  | { kind: 'accepted'; taskId: string }
  | { kind: 'waiting' }
  /**
   * The provider reported a final failure. `taken`, only of a creation, is whether the provider accepted the call; a failed task
   * was always accepted. A failure without an `obstacle` is final at every provider. `blamesInput`: the request is at fault, such
   * as by a file, so the failure says nothing about the provider, and `input` of the failure names the input and the reason.
   */
  | {
      kind: 'failed';
      failure: Failure;
      taken?: Taken | undefined;
      obstacle?: Obstacle | undefined;
      blamesInput?: boolean | undefined;
      upstream?: UpstreamError | undefined;
    }
  /**
   * Nothing was created or learned: the same call may be repeated later, at the earliest after `retryAfterSeconds`, the
   * provider's own `Retry-After` when it sent one. With `ifRepeated`, a creation may be repeated once, because the provider is
   * full or our quota is used up: the same answer to the repetition is this failure, with the error `upstream`.
   */
  | {
      kind: 'busy';
      reason: string;
      obstacle?: Obstacle | undefined;
      retryAfterSeconds?: number | undefined;
      ifRepeated?: Failure | undefined;
      upstream?: UpstreamError | undefined;
    }
  /**
   * The answer to a query that does not show the task's state. Our credential or account was refused or, with a `failure`, the
   * answer was unreadable. Repeating the query does not help until the cause is removed.
   */
  | { kind: 'refused'; failure?: Failure | undefined }
  /** A task may exist that we cannot follow, or the provider no longer knows it: never repeat the call. */
  | { kind: 'lost'; failure: Failure };

/**
 * The result of a call that cancels a task. `reason` is the provider's error code, or why it did not answer.
 */
export type CancelAnswer = { kind: 'cancelled' } | { kind: 'not-cancelled'; reason: string };

/**
 * A provider's list of tasks, as far as it was read. `unfinished` are the ids of tasks that it names as unfinished. Unless it
 * `isComplete`, it has more than was read. `busy`: not now, as `ProviderAnswer` has it. `refused`: it lists no tasks of the account.
 */
export type TaskListing =
  | { kind: 'listed'; unfinished: ReadonlySet<string>; isComplete: boolean }
  | { kind: 'busy'; retryAfterSeconds?: number }
  | { kind: 'refused' };

/** Makes a call when its turn comes, with a signal that ends it in time. */
export type InTurn = <T>(call: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** A callback as it came. */
export interface SentCallback {
  /** The first value of a header; names are case-insensitive. */
  header: (name: string) => string | undefined;
  body: Buffer;
}

/** Whether a callback has the signature that its provider gives; `unknown` when that could not be learned now. */
export type CallbackCheck = 'genuine' | 'forged' | 'unknown';

/** A creation call, ready to send. */
export interface ProviderCall {
  path: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/**
 * The provider calls a request needs. `synchronous` calls return the outputs, `asynchronous` ones a task id. With `untaken` there are none: the
 * upstream model is not sent that field of the creation.
 */
export interface ProviderPlan {
  mode: 'synchronous' | 'asynchronous';
  calls: ProviderCall[];
  untaken?: string | undefined;
}

/** The adapter of a provider. Methods classify HTTP errors and network faults, and never reject for them. */
export interface Provider {
  readonly id: ProviderId;
  /** The address of the provider's API. */
  readonly baseUrl: string;
  /** Whether the provider calls back when a task of this kind changes. */
  callsBack(kind: RequestKind): boolean;
  /**
   * The calls for a request. Deterministic: the same request always gives the same calls in the same order.
   * A provider without callbacks ignores `callbackUrl`.
   */
  plan(request: StoredRequest, upstreamModel: string, callbackUrl: string): ProviderPlan;
  /** Makes one creation call. Never answers `waiting` or `refused`. */
  submit(call: ProviderCall, signal: AbortSignal): Promise<ProviderAnswer>;
  /** Reads the state of a task. `busy` means the provider did not report it. */
  query(taskId: string, signal: AbortSignal): Promise<ProviderAnswer>;
  /**
   * Lists unfinished tasks, these among them, with each HTTP call in its turn. Absent where the provider has no list. Results come from
   * `query` alone, and the list may be behind.
   */
  list?(taskIds: readonly string[], inTurn: InTurn): Promise<TaskListing>;
  /**
   * Cancels a task of an ended request. Providers cancel queued tasks, and may delete the record of other tasks, so call it only
   * when the request has ended.
   */
  cancel(taskId: string, signal: AbortSignal): Promise<CancelAnswer>;
}

/** A route of a model: deployment configuration, not code. */
export interface ModelRoute {
  provider: ProviderId;
  upstreamModel: string;
}

/** A model's provider, ready to call, and the provider's own name for the model. */
export interface ProviderRoute {
  provider: Provider;
  upstreamModel: string;
}

/** Which provider a call was made to, and where. */
export interface CallOrigin extends ModelRoute {
  baseUrl: string;
}

/** The route chosen for a call, or the route of a made call with its address at the time. */
export type RouteOrOrigin = ModelRoute & { baseUrl?: string | undefined };

/**
 * Finds the provider of a route, or, for calls already made, of their origin, even if the model's routes have
 * changed since; without either, of the model's first route. Rejects when there is none.
 */
export type ProviderRouteOf = (model: string, route?: RouteOrOrigin) => Promise<ProviderRoute>;

/** The control loop queries tasks of many requests at once, so the logger's own keys cannot name the request. */
const queried = new AsyncLocalStorage<{ requestId: string }>();

/** Queries a task of a request, whose id the adapter's log lines then have. */
export const queryFor = <T>(requestId: string, query: () => Promise<T>): Promise<T> =>
  queried.run({ requestId }, query);

/** The id of the request whose task is being queried, as a field of a log line; none outside a query. */
export const queriedRequest = (): { requestId?: string } => queried.getStore() ?? {};
