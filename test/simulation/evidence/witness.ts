import { listModelRoutes } from '../../../core/provider-calls/model-routes.ts';
import { endUserKey, pauseKey } from '../../../core/table/keys.ts';
import type { Item } from '../../unit/fakes/expressions.ts';
import { keyText } from '../world/aws/indexes.ts';
import { CLOCKS_APART_MS } from '../world/clocks.ts';
import { Part } from '../world/part.ts';
import { falCallsOf } from '../world/upstream/fal.ts';
import type { World } from '../world/world.ts';

/** A request from first write to removal, as seen by the table. */
export interface Life {
  requestId: string;
  accountId: string;
  email: string;
  prompt: string;
  /** The record as it was accepted. */
  accepted: Item;
  /** The record as it was last. */
  last: Item;
  acceptedAt: number;
  /** When it became terminal, in epoch milliseconds; infinite until then. */
  endedAt: number;
  /** When the record was removed. */
  removedAt: number | undefined;
}

/** What never changes once a request has ended. */
const FINAL_FIELDS = [
  'status',
  'costThousandths',
  'refundThousandths',
  'finishedAt',
  'expiresAt',
  'error',
  'outputs',
  'debitThousandths',
];

export const isTerminal = ({ status }: Item): boolean => status === 'succeeded' || status === 'failed';

/** The object keys of the files that a request delivers. */
export const objectKeysOf = ({ outputs = [] }: Item): string[] =>
  (outputs as { objectKey?: string }[]).flatMap(({ objectKey }) => objectKey ?? []);

/** The code of the error with which a request failed. */
export const errorCodeOf = ({ error }: Item): string | undefined =>
  (error as { code?: string } | undefined)?.code;

/** The kind of an attempt's outcome; undefined while it is not known. */
export const outcomeOf = (attempt: Item | undefined): string | undefined =>
  (attempt?.outcome as { kind?: string } | undefined)?.kind;

/** Whether a call may still be running at its provider, as far as its attempt says. */
export const isOpenCall = (attempt: Item): boolean => (outcomeOf(attempt) ?? 'accepted') === 'accepted';

/** The counters of an end-user. */
export const COUNTERS = ['totalRequests', 'activeRequests', 'spentThousandths'] as const;

/**
 * Watches every change of the table and keeps facts that its last state does not show: changes of terminal requests,
 * and requests that were accepted and later removed.
 */
export class Witness extends Part {
  readonly lives = new Map<string, Life>();
  /** The due counters of every end-user since they were last created, from the table's own changes. */
  readonly counters = new Map<string, Record<(typeof COUNTERS)[number], number>>();
  /** Called when a request is accepted. */
  onAccept: ((life: Life) => void) | undefined;
  /** Called when a request ends. */
  onEnd: ((life: Life) => void) | undefined;
  /** Called when the files of a request are marked as removed. */
  onExpire: ((life: Life) => void) | undefined;

  constructor(world: World) {
    super(world);
    world.table.witnesses.push((key, before, after) => this.see(key, before, after));
  }

  /** The requests that were accepted, oldest first. */
  all(): Life[] {
    return [...this.lives.values()];
  }

  /** The requests that are there and not over. */
  open(): Life[] {
    return this.all().filter(({ removedAt, last }) => removedAt === undefined && !isTerminal(last));
  }

  /** Whether a request's record may be gone by any clock. */
  isPastRetention({ last }: Life): boolean {
    return Number(last.ttl) * 1000 - CLOCKS_APART_MS < this.world.scheduler.now;
  }

  /** The number of calls of a request at a provider. */
  plannedCallsOf({ requestId, accepted }: Life, provider = this.providerOf(requestId, accepted)): number {
    const images = accepted.kind === 'image' ? Number(accepted.images) : 1;
    if (provider === 'fal') return falCallsOf(images);
    return provider === 'modelark' ? images : 1;
  }

  /** The provider of the latest claim, else the first one of the model. */
  private providerOf(requestId: string, { model }: Item): string | undefined {
    return this.world.evidence.claimedFor.get(requestId) ?? listModelRoutes()[String(model)]?.[0]?.provider;
  }

  private see(key: string, before: Item | undefined, after: Item | undefined): void {
    const sort = String((after ?? before)?.SK);
    if (sort === 'REQUEST') this.seeRequest(before, after);
    if (sort.startsWith('PAUSE#') && after) this.seePause(after);
    if (sort.startsWith('ATTEMPT#') && !before && after) this.seeClaim(after);
    if (sort.startsWith('ATTEMPT#') && after && outcomeOf(after) === 'busy' && outcomeOf(before) !== 'busy')
      this.world.evidence.busyAnswers.add(after.requestId);
    if (sort.startsWith('END_USER#')) {
      this.world.log(() => `  ${key} ${after ? `active ${after.activeRequests}` : 'removed'}`);
      if (!after) this.counters.delete(key);
    }
  }

  /** Only the end of a request whose provider was asked pauses its end-user; both are one transaction. */
  private seePause({ PK, SK }: Item): void {
    const { evidence, scheduler } = this.world;
    const isCause = ({ requestId, accountId, email, accepted, endedAt }: Life): boolean => {
      const key = pauseKey({ accountId, email, model: String(accepted.model) });
      return endedAt === scheduler.now && evidence.claims.of(requestId) > 0 && key.PK === PK && key.SK === SK;
    };
    if (!this.all().some(isCause)) this.report(`[pause] ${SK} is written and no provider was late`);
  }

  private seeClaim(attempt: Item): void {
    const { evidence, scheduler } = this.world;
    evidence.claim(attempt);
    const life = this.lives.get(String(attempt.requestId));
    if (!life || life.removedAt !== undefined || isTerminal(life.last))
      this.report(
        `[late call] a call of ${attempt.requestId} was claimed ${life ? scheduler.now - life.endedAt : 0} ms after its end`,
      );
  }

  private seeRequest(before: Item | undefined, after: Item | undefined): void {
    const record = (after ?? before) as Item;
    const requestId = String(record.requestId);
    this.world.log(() => `  ${requestId} ${before?.status ?? 'nothing'} -> ${after?.status ?? 'nothing'}`);
    if (!before && after) this.accept(requestId, after);
    const life = this.lives.get(requestId);
    if (!life) return;
    if (after) life.last = after;
    else life.removedAt = this.world.scheduler.now;
    if (before) this.compare(life, before, after);
  }

  private accept(requestId: string, record: Item): void {
    if (this.lives.has(requestId)) this.report(`${requestId} was written anew after its removal`);
    const email = String(record.endUserEmail);
    const accountId = String(record.accountId);
    const endUser = this.world.table.get({ ...endUserKey(accountId, email) });
    if (endUser?.blockedAt !== undefined || endUser?.deletingAt !== undefined)
      this.report(`[barred end-user] ${requestId} was accepted while ${email} is blocked or removed`);
    const life: Life = {
      ...{ requestId, accountId, email, accepted: record, last: record },
      prompt: String(record.prompt),
      acceptedAt: this.world.scheduler.now,
      endedAt: Number.POSITIVE_INFINITY,
      removedAt: undefined,
    };
    this.lives.set(requestId, life);
    this.onAccept?.(life);
    const counters = this.countersOf(accountId, email);
    counters.totalRequests++;
    counters.activeRequests++;
    counters.spentThousandths += Number(record.debitThousandths);
  }

  private compare(life: Life, before: Item, after: Item | undefined): void {
    const { requestId, accountId, email } = life;
    if (!after) {
      if (!isTerminal(before)) this.report(`${requestId} was removed while ${before.status}`);
      return;
    }
    if (isTerminal(before)) {
      const changed = FINAL_FIELDS.filter((f) => JSON.stringify(before[f]) !== JSON.stringify(after[f]));
      if (changed.length > 0) {
        const to = `${before.status} to ${after.status}`;
        this.report(`${requestId} changed after its end, from ${to}: ${changed.join(', ')}`);
      }
      if (before.expiredAt === undefined && after.expiredAt !== undefined) this.onExpire?.(life);
      if (before.expiredAt !== undefined && before.expiredAt !== after.expiredAt)
        this.report(`[expired twice] ${requestId} expired again`);
      return;
    }
    if (before.status === 'processing' && after.status === 'queued')
      this.report(`${requestId} went back to queued`);
    if (!isTerminal(after)) return;
    life.endedAt = this.world.scheduler.now;
    const hasFiles = objectKeysOf({ outputs: before.outputs ?? before.storedSoFar }).length > 0;
    if (after.status === 'failed' && hasFiles && !this.world.evidence.failed.has(requestId))
      this.report(`[thrown away] ${requestId} had files that were stored, and failed`);
    this.onEnd?.(life);
    const counters = this.countersOf(accountId, email);
    counters.activeRequests--;
    counters.spentThousandths -= Number(after.refundThousandths ?? 0);
  }

  private countersOf(accountId: string, email: string) {
    const key = keyText({ ...endUserKey(accountId, email) });
    const counters = this.counters.get(key) ?? { totalRequests: 0, activeRequests: 0, spentThousandths: 0 };
    this.counters.set(key, counters);
    return counters;
  }
}
