import type { Item } from '../../unit/fakes/expressions.ts';
import type { Invocation } from '../world/engine/invocation.ts';

/** What a provider made, or will have made, of one creation call. */
export interface Made {
  /** The name of the task; it is part of every file's URL. */
  id: string;
  /** When it is finished, in epoch milliseconds; infinite when it never is. */
  doneAt: number;
  /** Whether the provider finishes it and says so. */
  works: boolean;
  /** Whether the provider forgets it: it is asked about it again for a while. */
  forgotten: boolean;
  /** The URLs of the files that it can be asked for. */
  urls: string[];
}

/** A creation call from sending to answer, as seen from outside of the service. */
export interface CreationCall {
  requestId: string;
  /** The provider that it was sent to. */
  provider: string;
  /** The account at that provider, by the name of its key. */
  account: string;
  maker: Invocation | undefined;
  sentAt: number;
  /** `unreached`: no connection. `lost`: sent, and no answer reached the caller. `early`: the caller gave up too soon. */
  end: 'open' | 'answered' | 'unreached' | 'lost' | 'early';
  /** When it came to that end, in epoch milliseconds. */
  settledAt?: number;
  /** The HTTP status of the answer that reached the caller. */
  status: number | undefined;
  /** From when on its provider takes it again, in epoch milliseconds, if it was turned away with a `Retry-After`. */
  retryAt?: number;
  /** Whether our quota at its provider was used up, by the provider's own code. */
  isQuota?: boolean;
  /** What the provider took the call for, and is paid for. */
  made: Made | undefined;
}

/** How often something happened, by name. */
class Counts {
  private readonly counts = new Map<string, number>();

  add(name: unknown): void {
    this.counts.set(String(name), this.of(String(name)) + 1);
  }

  of(name: string): number {
    return this.counts.get(name) ?? 0;
  }
}

/** The id of all tasks of a provider that uses one again and again. */
export const SAME_ID = 'task-same';
/** How long a caller has to wait for an answer before giving up counts as the provider's silence. */
export const PATIENCE_MS = 55_000;

/** What happened to requests outside the table: calls, claims, deaths, interventions. The liveness rules judge by it. */
export class Evidence {
  readonly calls = new Map<string, CreationCall[]>();
  /** How many attempts were claimed in the table, by request. */
  readonly claims = new Counts();
  /** The provider of the latest claim of each request. */
  readonly claimedFor = new Map<string, string>();
  /** How many answers "busy" were written down, by request. */
  readonly busyAnswers = new Counts();
  /** How many runs of the dispatch function died, or never learned that their claim stands, by request. */
  readonly interrupted = new Counts();
  /** The runs of functions that were told that their transaction is under way. */
  readonly underWay = new Set<Invocation>();
  /** The requests that an operator failed, or whose execution an operator stopped. */
  readonly interventions = new Set<string>();
  /** Those of them that an operator failed. */
  readonly failed = new Set<string>();
  /** The executions whose end was not reported, or not at the first attempt, by name. */
  readonly unreported = new Set<string>();
  /** When a callback was last answered with 200, by request. */
  readonly calledBackAt = new Map<string, number>();
  /** The requests of which the bucket would not take a file, for want of a permission. */
  readonly denied = new Set<string>();
  /** How often a file's own server did not give it, by URL. */
  readonly refusedFiles = new Counts();
  /** The tasks whose state a provider refuses to say, by id: since when, in epoch milliseconds. */
  readonly refusedTasks = new Map<string, number>();
  /** The tasks whose state a provider did not say when it was last asked, by id. */
  readonly untoldTasks = new Set<string>();
  /** When a provider told the state of such a task again, in epoch milliseconds. */
  readonly toldAgainAt = new Map<string, number>();
  /** From when on a provider may be asked about a task again, by its id, and when it said so. */
  readonly heldOff = new Map<string, { untilMs: number; atMs: number }>();
  /** When a model last lost its route, in epoch milliseconds. */
  readonly unroutedAt = new Map<string, number>();
  /** The routes that operators left by hand, by name: since when, in epoch milliseconds. */
  readonly leftSince = new Map<string, number>();
  /** Until when a model had no route that operators had not left, in epoch milliseconds; infinite while it has none. */
  readonly unusedUntil = new Map<string, number>();
  /** When operators last left a route, or returned to one, in epoch milliseconds. */
  leftAt = 0;
  /** When functions last got another configuration, in epoch milliseconds. */
  deployedAt = 0;
  /** When a secret last got another value, in epoch milliseconds. */
  rotatedAt = 0;
  /** When an outage was last met, in epoch milliseconds; later than now while the schedule has one. */
  outageAt = 0;
  /** When something last went wrong inside the service itself, in epoch milliseconds. */
  faultAt = 0;
  /** When a fault was last met or an outage was last felt, in epoch milliseconds. */
  disturbedAt = 0;

  callsOf(requestId: string): readonly CreationCall[] {
    return this.calls.get(requestId) ?? [];
  }

  /** The calls of the request whose task this is. */
  callsOfTask(taskId: string): readonly CreationCall[] {
    return [...this.calls.values()].find((calls) => calls.some(({ made }) => made?.id === taskId)) ?? [];
  }

  /** A creation call leaves its maker. */
  send(
    maker: Invocation | undefined,
    to: Pick<CreationCall, 'provider' | 'account'>,
    sentAt: number,
  ): CreationCall {
    const requestId = maker?.requestId ?? '';
    const call: CreationCall = {
      ...{ ...to, requestId, maker, sentAt, end: 'open', status: undefined, made: undefined },
    };
    this.calls.set(requestId, [...this.callsOf(requestId), call]);
    return call;
  }

  /** An attempt of a request was claimed in the table. */
  claim({ requestId, provider }: Item): void {
    this.claims.add(requestId);
    this.claimedFor.set(String(requestId), String(provider));
  }

  /** A run of a function died. */
  die({ requestId, functionName }: Invocation): void {
    if (requestId !== undefined && functionName.endsWith('dispatch-request')) this.interrupted.add(requestId);
  }

  /** A run of a function failed: one of dispatch may never have learned what became of its claim. */
  fail(invocation: Invocation, errorName: string): void {
    if (errorName === 'TransientError' && this.underWay.has(invocation)) this.die(invocation);
  }

  /** A provider was asked for the state of a task, and told it, refused us or gave no answer. */
  query(taskId: string, end: 'told' | 'refused' | 'unanswered', at: number): void {
    if (end === 'told') {
      this.refusedTasks.delete(taskId);
      if (this.untoldTasks.delete(taskId)) this.toldAgainAt.set(taskId, at);
      return;
    }
    this.untoldTasks.add(taskId);
    if (end === 'refused' && !this.refusedTasks.has(taskId)) this.refusedTasks.set(taskId, at);
  }

  /** A call met an outage, or the schedule one that lasts until then. */
  meetOutage(at: number): void {
    this.outageAt = Math.max(this.outageAt, at);
  }
}
