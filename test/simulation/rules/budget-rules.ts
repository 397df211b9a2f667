import type { Budget } from '../../../core/budgets/budget-rules.ts';
import type { Item } from '../../unit/fakes/expressions.ts';
import type { Caller } from '../runs/simulation.ts';
import { callPatiently } from '../stimuli/api.ts';
import { CLOCKS_APART_MS } from '../world/clocks.ts';
import { Part } from '../world/part.ts';
import type { World } from '../world/world.ts';

/** The longest that a call may still act on what it has read: the time limit of its function. */
const CALL_MS = 29_000;
const DAY_LENGTH = '2026-03-30'.length;

const periodsOf = ({ createdAt }: Item): string[] => [
  String(createdAt).slice(0, DAY_LENGTH),
  String(createdAt).slice(0, DAY_LENGTH - 3),
];

const netOf = ({ debitThousandths, refundThousandths = 0 }: Item): number =>
  Number(debitThousandths) - Number(refundThousandths);

const limitIn = (
  { perDayThousandths: day, perMonthThousandths: month }: Budget,
  period: string,
): number | undefined => (period.length === DAY_LENGTH ? day : month);

/**
 * Checks budgets. Sums debits less refunds of each end-user and key with a budget, from the table's own changes. No debit is written that
 * exceeds the budget which stands at that moment.
 */
export class Budgets extends Part {
  /** The spending of each owner with a budget, by owner and period. */
  private readonly spent = new Map<string, number>();
  /** The requests that are in these sums, by owner. */
  private readonly counted = new Map<string, Set<string>>();
  /** When the sums of an end-user began, in epoch milliseconds. */
  private readonly beganAt = new Map<string, number>();
  private readonly keyIds = new Map<string, string>();
  /** Requests that were deleted, and when. */
  private readonly deleted: { request: Item; at: number }[] = [];
  /** Requests that were deleted while the sums of an end-user began. The call may have read them before. */
  private readonly perhapsCounted = new Map<string, Item[]>();

  constructor(world: World) {
    super(world);
    world.table.witnesses.push((_key, before, after) => {
      if (after?.reason === 'generation') this.keyIds.set(String(after.reference), String(after.keyId));
      if (after?.budget && !before?.budget && after.endUserId !== undefined) this.begin(after);
      if (before?.SK === 'REQUEST' && !after) this.deleted.push({ request: before, at: world.scheduler.now });
      if (after?.SK !== 'REQUEST') return;
      if (!before) this.judge(after);
      else if (before.refundThousandths === undefined && Number(after.refundThousandths) > 0)
        this.refund(after);
    });
  }

  /** The first budget of an end-user counts what the requests that are there cost. */
  private begin({ endUserId, accountId }: Item): void {
    const owner = String(endUserId);
    this.beganAt.set(owner, this.world.scheduler.now);
    this.counted.delete(owner);
    for (const key of this.spent.keys()) if (key.startsWith(`${owner} `)) this.spent.delete(key);
    for (const request of this.requestsOf(accountId, endUserId)) this.add(owner, request, netOf(request));
    const lately = this.deleted.filter(({ at }) => at > this.world.scheduler.now - CALL_MS);
    this.perhapsCounted.set(
      owner,
      lately.flatMap(({ request }) => (request.endUserId === endUserId ? [request] : [])),
    );
  }

  /** The counts that an owner may have: of a request that may have been counted, with it and without. */
  private countsOf(owner: string, period: string): number[] {
    let counts = [this.spent.get(`${owner} ${period}`) ?? 0];
    for (const request of this.perhapsCounted.get(owner) ?? [])
      if (periodsOf(request).includes(period))
        counts = counts.flatMap((count) => [count, count + netOf(request)]);
    return counts;
  }

  private requestsOf(accountId: unknown, endUserId: unknown): Item[] {
    return this.world
      .items('REQUEST')
      .filter((request) => request.accountId === accountId && request.endUserId === endUserId);
  }

  private judge(request: Item): void {
    for (const { owner, budget } of this.ownersOf(request)) {
      this.add(owner, request, Number(request.debitThousandths));
      for (const period of periodsOf(request)) {
        const over =
          (this.spent.get(`${owner} ${period}`) ?? 0) - (limitIn(budget, period) ?? Number.POSITIVE_INFINITY);
        if (over > 0 && !this.isBefore(owner, period))
          this.report(
            `[budget] ${String(request.requestId)} exceeds that of ${owner} in ${period} by ${over}`,
          );
      }
    }
  }

  /** Whether a period was over when the sums of an end-user began. Soon after midnight those of the day before begin, too. */
  private isBefore(owner: string, period: string): boolean {
    const began = new Date((this.beganAt.get(owner) ?? 0) - CLOCKS_APART_MS).toISOString();
    return period < began.slice(0, period.length);
  }

  /** Those whose budgets stand now, and whose spending a new request is. */
  private ownersOf({
    accountId,
    endUserEmail,
    endUserId,
    requestId,
  }: Item): { owner: string; budget: Budget }[] {
    const { table } = this.world;
    const endUser = table.get({ PK: `USERS#${accountId}`, SK: `END_USER#${endUserEmail}` });
    const keyId = this.keyIds.get(String(requestId)) ?? '';
    const budgets = (table.get({ PK: `ACCOUNT#${accountId}`, SK: 'ACCOUNT' })?.keyBudgets ?? {}) as Record<
      string,
      Budget
    >;
    return [
      { owner: String(endUserId), budget: endUser?.budget as Budget | undefined },
      { owner: keyId, budget: budgets[keyId] },
    ].flatMap(({ owner, budget }) => (budget ? [{ owner, budget }] : []));
  }

  private refund(request: Item): void {
    for (const [owner, requestIds] of this.counted) {
      if (requestIds.has(String(request.requestId)))
        this.add(owner, request, -Number(request.refundThousandths));
    }
  }

  private add(owner: string, request: Item, amount: number): void {
    const requestIds = this.counted.get(owner) ?? new Set();
    this.counted.set(owner, requestIds.add(String(request.requestId)));
    for (const period of periodsOf(request)) {
      const key = `${owner} ${period}`;
      this.spent.set(key, (this.spent.get(key) ?? 0) + amount);
    }
  }

  /** Counts in the table that differ from the sums, once nothing is under way. */
  countProblems(): string[] {
    const withBudget = new Set([
      ...this.world
        .items('END_USER#')
        .filter(({ budget }) => budget)
        .map(({ endUserId }) => endUserId),
      ...this.world.accounts().flatMap(({ keyBudgets = {} }) => Object.keys(keyBudgets as object)),
    ]);
    return this.world.items('SPENT#').flatMap(({ SK, spentThousandths }) => {
      const [, owner = '', period = ''] = String(SK).split('#');
      if (!withBudget.has(owner) || this.isBefore(owner, period)) return [];
      const due = this.countsOf(owner, period);
      return due.includes(Number(spentThousandths))
        ? []
        : [`[budget] ${owner} spent ${due[0]} in ${period}; ${spentThousandths} is counted`];
    });
  }

  /** Answers on budgets that differ from the sums, or without a budget from the requests that are there. */
  async answerProblems({ accountId, apiKey }: Caller): Promise<string[]> {
    const problems: string[] = [];
    const endUsers = this.world.items('END_USER#').filter((endUser) => endUser.accountId === accountId);
    for (const { email, endUserId, budget } of endUsers) {
      const call = { route: 'get-end-user-budget', apiKey, parameters: { email: String(email) } };
      const { status, body } = await callPatiently(this.world, call);
      const createdAt = new Date(this.world.scheduler.now).toISOString();
      const due = periodsOf({ createdAt }).map((period) => {
        if (budget) return this.countsOf(String(endUserId), period);
        const within = this.requestsOf(accountId, endUserId).filter((request) =>
          periodsOf(request).includes(period),
        );
        return [within.reduce((sum, request) => sum + netOf(request), 0)];
      });
      const told = [body.spentToday, body.spentThisMonth];
      const isDue = (spent: unknown, index: number) =>
        due[index]?.includes(Math.round(Number(spent) * 1_000)) === true;
      if (status !== 200 || !told.every(isDue))
        problems.push(
          `[budget] ${String(email)} is told ${status} ${told}, and spent ${due.join('; ')} thousandths`,
        );
    }
    return problems;
  }
}
