import { endUserKey, requestKey } from '../../../core/table/keys.ts';
import type { Life } from '../evidence/witness.ts';
import type { Answer } from '../stimuli/api.ts';
import { keyText } from '../world/aws/indexes.ts';
import { CLOCKS_APART_MS } from '../world/clocks.ts';
import { Part } from '../world/part.ts';
import type { World } from '../world/world.ts';

/** How long a call may still be admitted after its account was blocked: decisions, section 2. */
const LET_IN_MS = 5_000;
/** When the index of an end-user's requests is read again after their removal: decisions, section 6. */
const PASSES_MS = [60_000, 900_000, 86_400_000];
/** How long such a pass may take, from when it is due to its last deletion. */
const PASS_MS = 1_800_000;

/** From when on the indexes show a request, in epoch milliseconds; infinite when they never do. */
const shownFrom = ({ table }: World, { requestId }: Life): number =>
  table.shownFrom({ ...requestKey(requestId) }) ?? Number.POSITIVE_INFINITY;

/** Whether the indexes show a request at an instant. */
const isListed = (world: World, life: Life, at: number): boolean => shownFrom(world, life) <= at;

/** By when a request is gone whose end-user was removed, in epoch milliseconds: by the first pass to which the index shows it. */
const goneBy = (world: World, life: Life, startedAt: number): number => {
  const hiddenMs = shownFrom(world, life) - startedAt;
  return startedAt + (PASSES_MS.find((pass) => pass >= hiddenMs) ?? 0) + PASS_MS;
};

interface UserChange {
  accountId: string;
  email: string;
  kind: 'block' | 'unblock' | 'delete-user';
  startedAt: number;
  wasThere: boolean;
  /** Whether a removal of the end-user that an earlier call began was still under way. */
  wasLeaving: boolean;
  /**
   * When an earlier end-user of the same address was removed; requests accepted before then are not this end-user's.
   */
  earlierGoneAt: number;
  /** Whether another change of the same end-user was under way at the same time. */
  isAlone: boolean;
}

/** Compares the answers that callers get under concurrent changes with the table at that time, and afterwards. */
export class Standing extends Part {
  /** Every balance that an account had, and from when on. */
  private readonly balances = new Map<string, { at: number; thousandths: number }[]>();
  /** Since when an account is blocked. */
  private readonly blocked = new Map<string, number>();
  private readonly changes = new Set<UserChange>();
  /** The removals of end-users that were answered with 200. */
  private readonly removals: UserChange[] = [];
  /** The requests that a caller of their own account asked to delete. */
  private readonly unwanted = new Set<string>();
  /** When an end-user was last removed. */
  private readonly goneAt = new Map<string, number>();
  private deletions = 0;
  private deletionsBegun = 0;

  constructor(world: World) {
    super(world);
    world.table.witnesses.push((key, before, after) => {
      if (!after && String(before?.SK).startsWith('END_USER#')) this.goneAt.set(key, world.scheduler.now);
      if (!after && before?.SK === 'REQUEST') this.judgeRemoved(String(before.requestId));
      if (after?.SK !== 'ACCOUNT') return;
      const accountId = String(after.accountId);
      const known = this.balances.get(accountId) ?? [];
      known.push({ at: world.scheduler.now, thousandths: Number(after.balanceThousandths) });
      this.balances.set(accountId, known);
      if (after.blockedAt === undefined) this.blocked.delete(accountId);
      else if (!this.blocked.has(accountId)) this.blocked.set(accountId, world.scheduler.now);
    });
  }

  /** Any call of an account: one that is blocked for long is not answered. */
  judgeCall(accountId: string, route: string, startedAt: number, { status }: Answer): void {
    const since = this.blocked.get(accountId) ?? Number.POSITIVE_INFINITY;
    if (status < 400 && startedAt > since + LET_IN_MS)
      this.report(`[blocked account] ${route} was answered with ${status} although the account is blocked`);
  }

  /** A key that was revoked a while ago is refused. */
  judgeRevoked({ status }: Answer): void {
    if (status < 400) this.report(`[revoked key] a call with a revoked key was answered with ${status}`);
  }

  /** A balance is one that the account had while it was asked for. */
  judgeBalance(accountId: string, startedAt: number, { status, body }: Answer): void {
    if (status !== 200) return;
    const known = this.balances.get(accountId) ?? [];
    const first = known.findLastIndex(({ at }) => at <= startedAt);
    const standing = known.slice(Math.max(0, first)).map(({ thousandths }) => thousandths / 1000);
    if (!standing.includes(Number(body.xTokens)))
      this.report(`[moving balance] the balance reads ${body.xTokens}, and was ${standing} meanwhile`);
  }

  /** A page of the history is a piece of the chain, newest first, and its instants never increase on the way down. */
  judgeHistory({ status, body }: Answer): void {
    if (status !== 200) return;
    const entries = body.items as {
      type: string;
      amount: number;
      balanceAfter: number;
      createdAt: string;
    }[];
    for (const [index, newer] of entries.entries()) {
      const older = entries[index + 1];
      if (!older) return;
      const change = newer.type === 'credit' ? newer.amount : -newer.amount;
      if (Math.abs(older.balanceAfter + change - newer.balanceAfter) > 0.0001)
        this.report(`[moving history] ${newer.balanceAfter} follows ${older.balanceAfter} by ${change}`);
      if (newer.createdAt < older.createdAt)
        this.report(`[history backwards] an entry of ${newer.createdAt} follows one of ${older.createdAt}`);
    }
  }

  /** The first page of a list shows what was there all the time, newest first, and nothing that was gone before. */
  judgeList(accountId: string, kind: string, startedAt: number, { status, body }: Answer): void {
    if (status !== 200) return;
    const listed = (body.items as { requestId: string }[]).map(({ requestId }) => requestId);
    if (listed.join() !== listed.toSorted().toReversed().join())
      this.report(`[moving list] ${listed} in no order`);
    for (const requestId of listed) {
      const life = this.world.witness.lives.get(requestId);
      if (life?.accountId !== accountId) this.report(`[moving list] ${requestId} is not of ${accountId}`);
      if ((life?.removedAt ?? Number.POSITIVE_INFINITY) < startedAt)
        this.report(`[moving list] ${requestId} is listed and was removed before`);
    }
    const oldest = body.hasMore === true ? (listed.at(-1) ?? '') : '';
    const missing = this.world.witness
      .all()
      .filter(
        (life) =>
          life.accountId === accountId &&
          life.accepted.kind === kind &&
          life.removedAt === undefined &&
          isListed(this.world, life, startedAt) &&
          life.requestId > oldest &&
          !this.world.witness.isPastRetention(life) &&
          !listed.includes(life.requestId),
      );
    for (const { requestId } of missing) this.report(`[moving list] ${requestId} is there and not listed`);
  }

  /** An end-user's change begins. */
  beginChange(accountId: string, email: string, kind: UserChange['kind']): UserChange {
    const others = [...this.changes].filter(
      (other) => other.accountId === accountId && other.email === email,
    );
    for (const other of others) other.isAlone = false;
    const endUser = this.endUser(accountId, email);
    const change: UserChange = {
      ...{ accountId, email, kind },
      startedAt: this.world.scheduler.now,
      wasThere: endUser !== undefined,
      wasLeaving: endUser?.deletingAt !== undefined,
      earlierGoneAt: this.goneAtOf(accountId, email),
      isAlone: others.length === 0,
    };
    this.changes.add(change);
    return change;
  }

  /** An end-user's change is answered: what was answered stands. */
  endChange(change: UserChange, { status }: Answer): void {
    this.changes.delete(change);
    const { accountId, email, kind, startedAt, wasThere, wasLeaving, isAlone } = change;
    if (status === 200 && kind === 'delete-user') this.removals.push(change);
    if (!isAlone) return;
    const endUser = this.endUser(accountId, email);
    // The control loop may have ended the earlier removal meanwhile. A repeated removal succeeds also then.
    const isGone = wasLeaving && kind !== 'delete-user' && this.goneAtOf(accountId, email) >= startedAt;
    if (status === 404 && wasThere && !isGone) this.report(`[end-user 404] ${kind} of ${email} found nobody`);
    if (status === 200 && kind === 'block' && endUser?.blockedAt === undefined && !isGone)
      this.report(`[end-user] ${email} was blocked and is not`);
    if (status === 200 && kind === 'unblock' && endUser?.blockedAt !== undefined)
      this.report(`[end-user] ${email} was unblocked and is blocked`);
    if (status === 200 && kind === 'delete-user') this.judgeSurvivors(change);
    const wasBusy = this.livesOf(change).some(({ endedAt }) => endedAt >= startedAt - CLOCKS_APART_MS);
    if (status === 409 && kind === 'delete-user' && !wasBusy)
      this.report(`[end-user] ${email} cannot be removed and has nothing under way`);
  }

  /** An end-user is removed with every request that the index showed. */
  private judgeSurvivors(change: UserChange): void {
    for (const life of this.livesOf(change)) {
      const wasListed = isListed(this.world, life, change.startedAt);
      const isTheirs = life.acceptedAt > change.earlierGoneAt;
      if (wasListed && isTheirs && life.removedAt === undefined && !this.world.witness.isPastRetention(life))
        this.report(`[survivor] ${life.requestId} is there after ${change.email} was removed`);
    }
  }

  /** A request is accepted: its account is not blocked, and its end-user neither blocked nor being removed. */
  judgeAccepted({ requestId, accountId, email }: Life): void {
    if (this.blocked.has(accountId))
      this.report(`[blocked account] ${requestId} was accepted from a blocked one`);
    const endUser = this.endUser(accountId, email);
    if (endUser?.blockedAt !== undefined)
      this.report(`[end-user] ${requestId} was accepted from a blocked one`);
    if (endUser?.deletingAt !== undefined)
      this.report(`[end-user] ${requestId} was accepted during a removal`);
  }

  /** A caller asks to delete requests of its own. */
  beginDeletion(accountId: string, lives: readonly Life[]): void {
    for (const life of lives) if (life.accountId === accountId) this.unwanted.add(life.requestId);
  }

  /**
   * A request is removed for a reason: a caller asked for the removal, its end-user is removed, or its retention is
   * over.
   */
  private judgeRemoved(requestId: string): void {
    const life = this.world.witness.lives.get(requestId);
    if (!life || this.unwanted.has(requestId) || this.world.witness.isPastRetention(life)) return;
    const { accountId, email, acceptedAt } = life;
    const goneAt = this.goneAtOf(accountId, email);
    const isRemoving = this.endUser(accountId, email)?.deletingAt !== undefined;
    if (!isRemoving && goneAt < acceptedAt)
      this.report(`[taken] ${requestId} is removed and nobody asked for it`);
  }

  /** Counts a deletion of requests as under way for as long as it takes. */
  async whileDeleting<T>(run: () => Promise<T>): Promise<{ result: T; isAlone: boolean }> {
    const isFirst = this.deletions++ === 0;
    const begun = ++this.deletionsBegun;
    try {
      const result = await run();
      return { result, isAlone: isFirst && this.deletionsBegun === begun };
    } finally {
      this.deletions--;
    }
  }

  /** A bulk deletion reports the truth about each id, and reports every removal. */
  judgeBulk(
    lives: readonly Life[],
    accountId: string,
    startedAt: number,
    isAlone: boolean,
    answer: Answer,
  ): void {
    const { status, body } = answer;
    const own = lives.filter((life) => life.accountId === accountId);
    const removed = own.filter(({ removedAt }) => removedAt !== undefined && removedAt >= startedAt);
    const isDead = status === 502 || status === 504;
    if (status !== 200 && !isDead && isAlone && removed.length > 0)
      this.report(`[bulk delete] answered with ${status} after ${removed.length} were removed`);
    if (status !== 200) return;
    const [conflicts, notFound] = [body.conflicts, body.notFound] as [string[], string[]];
    // An id that could not be looked up is a conflict, whichever account it belongs to.
    const isCalm = this.world.evidence.disturbedAt < startedAt;
    for (const { requestId } of lives.filter((life) => life.accountId !== accountId)) {
      if (!notFound.includes(requestId) && (isCalm || !conflicts.includes(requestId)))
        this.report(`[foreign] ${requestId} is of another account and was found`);
    }
    for (const life of own) {
      const { requestId } = life;
      const isThere = life.removedAt === undefined && !this.world.witness.isPastRetention(life);
      const isNamed = conflicts.includes(requestId) || notFound.includes(requestId);
      if (isThere && !isNamed) this.report(`[bulk delete] ${requestId} counts as deleted and is there`);
      if (isThere && notFound.includes(requestId))
        this.report(`[bulk delete] ${requestId} is there and not found`);
    }
  }

  /** Leftovers, once everything is at rest, of removals that were answered with 200 or died on the way. */
  restProblems(): string[] {
    const { now } = this.world.scheduler;
    const survivors = this.removals.flatMap((removal) =>
      this.livesOf(removal)
        .filter(({ acceptedAt, removedAt }) => acceptedAt < removal.startedAt && removedAt === undefined)
        .filter((life) => goneBy(this.world, life, removal.startedAt) < now)
        .map(({ requestId }) => `[survivor] ${requestId} is there and its end-user was removed`),
    );
    const halves = this.world
      .items('END_USER#')
      .filter(({ deletingAt }) => deletingAt !== undefined)
      .map(({ email }) => `[half removed] the removal of ${email} began and never went on`);
    return [...new Set([...survivors, ...halves])];
  }

  private livesOf({ accountId, email }: { accountId: string; email: string }): Life[] {
    return this.world.witness.all().filter((life) => life.accountId === accountId && life.email === email);
  }

  /** When an end-user of the address was last removed; 0 for never. */
  private goneAtOf(accountId: string, email: string): number {
    return this.goneAt.get(keyText({ ...endUserKey(accountId, email) })) ?? 0;
  }

  private endUser(accountId: string, email: string) {
    return this.world.table.get({ ...endUserKey(accountId, email) });
  }
}
