import type { Instant } from '../core/time.ts';

/** What goes on during a span. */
export type SpanKind =
  /** From acceptance to the first provider call. */
  | 'queued'
  /** One attempt of a provider call, to its outcome. */
  | 'provider-call'
  /** The provider was too busy for a call, which is made again at the end. */
  | 'capacity-wait'
  /** A task is under way at the provider. */
  | 'provider-wait'
  /** One output is copied to the bucket. */
  | 'storing'
  /** Status and refund are written. */
  | 'settling'
  /** One attempt of a webhook delivery. */
  | 'webhook-attempt'
  /** A webhook delivery waits for its next attempt. */
  | 'webhook-pause'
  /** The files can be fetched. */
  | 'available'
  /** Files past their expiry are removed. */
  | 'removal'
  /** From the first provider call to when an unfinished request fails. */
  | 'deadline';

/** How a span ended. `accepted` is a provider's task whose result is open. */
export type SpanOutcome = 'succeeded' | 'failed' | 'accepted' | 'busy' | 'lost' | 'unknown';

/** A part of a request's life. */
export interface StorySpan {
  kind: SpanKind;
  /** What goes on, for people. */
  label: string;
  from: Instant;
  /** A planned end lies in the future; null while it goes on without one. */
  until: Instant | null;
  /** Counts from 1, for what is attempted. */
  attempt?: number;
  outcome?: SpanOutcome;
  detail?: string;
}

/** How it goes on with an unfinished request, as it looks now. Null: not known. */
export interface Outlook {
  /** The thing that the request waits for, in words. */
  waitsFor: string;
  /** The request's position in the queue of its route, from 1, and the queue's length. */
  position: number | null;
  queued: number | null;
  /**
   * Estimated seconds until the request ends, by the account's recent requests at the route. 0: it has taken longer
   * already.
   */
  aboutSeconds: number | null;
}
