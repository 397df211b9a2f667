import type { Failure } from '../errors.ts';
import type { RequestKind } from '../ids.ts';
import type { StoredRequest } from '../requests/request-rules.ts';

export const PROVIDER_IDS = ['modelark', 'modelstudio'] as const;
export type ProviderId = (typeof PROVIDER_IDS)[number];

/** One output of an upstream call: where its file is for now, or why there is none. */
export type ProviderOutput = { url: string } | { failure: Failure };

/** What an upstream answer means for a request, whatever the wire format. */
export type ProviderAnswer =
  /** It is finished; at least one output has a URL. */
  | { kind: 'done'; outputs: ProviderOutput[] }
  /** A task was accepted; ask for it by this id. */
  | { kind: 'accepted'; taskId: string }
  /** The task is not finished. */
  | { kind: 'waiting' }
  /** It will never be finished: the provider said so. */
  | { kind: 'failed'; failure: Failure }
  /** Surely nothing was accepted or learned: the same call may be made again after a while. */
  | { kind: 'busy'; reason: string }
  /** Nobody can know whether it was accepted, or the provider no longer knows the task: never call again. */
  | { kind: 'lost'; failure: Failure };

/** One creation call, ready to be sent. */
export interface ProviderCall {
  path: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/** The calls a request needs upstream; `synchronous` ones answer with the outputs themselves. */
export interface ProviderPlan {
  mode: 'synchronous' | 'asynchronous';
  calls: ProviderCall[];
}

/** An upstream, behind one face. None of these reject for an answer or a network fault: they classify it. */
export interface Provider {
  readonly id: ProviderId;
  /** Whether it calls back when a request of this kind is finished. */
  callsBack(kind: RequestKind): boolean;
  /**
   * The calls for a request; the same request always gives the same calls in the same order. `callbackUrl` is
   * where the provider is asked to call back, if it can.
   */
  plan(request: StoredRequest, upstreamModel: string, callbackUrl: string): ProviderPlan;
  submit(call: ProviderCall, signal: AbortSignal): Promise<ProviderAnswer>;
  query(taskId: string, signal: AbortSignal): Promise<ProviderAnswer>;
}

/** Where a model's requests go. Part of the deployment's configuration, not of the code. */
export interface ModelRoute {
  provider: ProviderId;
  upstreamModel: string;
}
