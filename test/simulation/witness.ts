import { endUserKey, pauseKey } from '../../core/table/keys.ts';
import type { Item } from '../unit/fakes/expressions.ts';
import type { World } from './world.ts';

/** One request from its first write to its removal, as the table saw it. */
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

const TERMINAL = new Set(['succeeded', 'failed']);

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

/** What is written once at most. */
const WRITTEN_ONCE = 'expiredAt';

/** What an end-user's counters have to come to, counted from the table's own changes. */
export interface ExpectedCounters {
  totalRequests: number;
  activeRequests: number;
  spentThousandths: number;
}

export const isTerminal = (record: Item): boolean => TERMINAL.has(String(record.status));

/** Whether a file is recorded as stored. */
const hasFiles = ({ outputs, storedSoFar }: Item): boolean =>
  ((outputs ?? storedSoFar ?? []) as { objectKey?: string }[]).some(
    ({ objectKey }) => objectKey !== undefined,
  );

const isBusy = (attempt: Item | undefined): attempt is Item =>
  (attempt?.outcome as { kind?: string } | undefined)?.kind === 'busy';

/**
 * Watches every change of the table and keeps facts that its last state does not show: changes of terminal requests,
 * and requests that were accepted and later removed.
 */
export class Witness {
  readonly lives = new Map<string, Life>();
  /** Every end-user's due counters since they were last created. */
  readonly counters = new Map<string, ExpectedCounters>();
  /** Rules that were broken at the very moment of a write. */
  readonly violations: string[] = [];
  /** Told of each request that is accepted. */
  onAccept: ((life: Life) => void) | undefined;
  /** Told of each request that ends. */
  onEnd: ((life: Life) => void) | undefined;
  /** Told of each request whose files are marked as removed. */
  onExpire: ((life: Life) => void) | undefined;
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
    world.table.witnesses.push((key, before, after) => this.see(key, before, after));
  }

  /** The requests that are there and not over. */
  open(): Life[] {
    return [...this.lives.values()].filter(
      ({ removedAt, last }) => removedAt === undefined && !isTerminal(last),
    );
  }

  private see(key: string, before: Item | undefined, after: Item | undefined): void {
    const sort = String((after ?? before)?.SK);
    if (sort === 'REQUEST') this.seeRequest(before, after);
    if (sort.startsWith('PAUSE#') && after) this.seePause(after);
    if (sort.startsWith('ATTEMPT#') && !before && after) this.seeClaim(after);
    if (sort.startsWith('ATTEMPT#') && isBusy(after) && !isBusy(before))
      this.world.evidence.recordBusy(after);
    if (sort.startsWith('END_USER#')) {
      this.world.note(() => `  ${key} ${after ? `active ${after.activeRequests}` : 'removed'}`);
      if (!after) this.counters.delete(key);
    }
  }

  /** Only the end of a request whose provider was asked pauses its end-user; both are one transaction. */
  private seePause({ PK, SK }: Item): void {
    const { evidence, scheduler } = this.world;
    const isCause = ({ requestId, accountId, email, accepted, endedAt }: Life): boolean => {
      const key = pauseKey({ accountId, email, model: String(accepted.model) });
      return endedAt === scheduler.now && evidence.claims.has(requestId) && key.PK === PK && key.SK === SK;
    };
    if (![...this.lives.values()].some(isCause)) {
      this.violations.push(`[pause] ${SK} is written and no provider was late`);
    }
  }

  private seeClaim(attempt: Item): void {
    const { evidence, scheduler } = this.world;
    evidence.claim(attempt);
    const life = this.lives.get(String(attempt.requestId));
    if (!life || life.removedAt !== undefined || isTerminal(life.last)) {
      this.violations.push(
        `[late call] a call of ${attempt.requestId} was claimed ${life ? scheduler.now - life.endedAt : 0} ms after its end`,
      );
    }
  }

  private seeRequest(before: Item | undefined, after: Item | undefined): void {
    const record = (after ?? before) as Item;
    const requestId = String(record.requestId);
    this.world.note(() => `  ${requestId} ${before?.status ?? 'nothing'} -> ${after?.status ?? 'nothing'}`);
    if (!before && after) this.accept(requestId, after);
    const life = this.lives.get(requestId);
    if (!life) return;
    if (after) life.last = after;
    else life.removedAt = this.world.scheduler.now;
    if (before) this.compare(life, before, after);
  }

  private accept(requestId: string, record: Item): void {
    if (this.lives.has(requestId)) this.violations.push(`${requestId} was written anew after its removal`);
    const email = String(record.endUserEmail);
    const accountId = String(record.accountId);
    const endUser = this.world.table.get({ ...endUserKey(accountId, email) });
    if (endUser?.blockedAt !== undefined || endUser?.deletingAt !== undefined) {
      this.violations.push(
        `[barred end-user] ${requestId} was accepted while ${email} is blocked or removed`,
      );
    }
    const life: Life = {
      requestId,
      accountId,
      email,
      prompt: String(record.prompt),
      accepted: record,
      last: record,
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
      if (!isTerminal(before)) this.violations.push(`${requestId} was removed while ${before.status}`);
      return;
    }
    if (isTerminal(before)) {
      const changed = FINAL_FIELDS.filter((f) => JSON.stringify(before[f]) !== JSON.stringify(after[f]));
      if (changed.length > 0) {
        const to = `${before.status} to ${after.status}`;
        this.violations.push(`${requestId} changed after its end, from ${to}: ${changed.join(', ')}`);
      }
      if (before[WRITTEN_ONCE] === undefined) {
        if (after[WRITTEN_ONCE] !== undefined) this.onExpire?.(life);
      } else if (before[WRITTEN_ONCE] !== after[WRITTEN_ONCE]) {
        this.violations.push(`[expired twice] ${requestId} expired again`);
      }
      return;
    }
    if (before.status === 'processing' && after.status === 'queued') {
      this.violations.push(`${requestId} went back to queued`);
    }
    if (!isTerminal(after)) return;
    life.endedAt = this.world.scheduler.now;
    if (after.status === 'failed' && hasFiles(before) && !this.world.evidence.failed.has(requestId)) {
      this.violations.push(`[thrown away] ${requestId} had files that were stored, and failed`);
    }
    this.onEnd?.(life);
    const counters = this.countersOf(accountId, email);
    counters.activeRequests--;
    counters.spentThousandths -= Number(after.refundThousandths ?? 0);
  }

  private countersOf(accountId: string, email: string): ExpectedCounters {
    const key = `USERS#${accountId}|END_USER#${email}`;
    const known = this.counters.get(key);
    if (known) return known;
    const counters = { totalRequests: 0, activeRequests: 0, spentThousandths: 0 };
    this.counters.set(key, counters);
    return counters;
  }
}
