import { setKeyBudget } from '../../../core/accounts/account-terms.ts';
import type { Budget } from '../../../core/budgets/budget-rules.ts';
import type { Item } from '../../unit/fakes/expressions.ts';
import { callApi, callPatiently } from '../api.ts';
import type { Deployment } from '../aws/step-functions.ts';
import type { Write } from '../aws/table.ts';
import { CALL_FAULTS } from '../engine/faults.ts';
import { inService, type Service } from '../known-faults/service.ts';
import { unconditional } from '../mutations.ts';
import { promptOf } from '../upstream/providers.ts';
import type { Mutation, World } from '../world.ts';

const DAY_MS = 86_400_000;
/** Two days of one month, and the first of the next. */
const STARTS_AT = Date.parse('2026-03-30T00:00:00.000Z');
const DAYS = 3;
/** Creations that are under way at once. */
const AT_ONCE = 8;
const PAUSE_MS = 1_000;
/** xTokens of a day and of a month, by end-user. */
const BUDGETS: Record<string, { perDay?: number; perMonth?: number }> = {
  'day@example.com': { perDay: 57 },
  'month@example.com': { perMonth: 101.5 },
  'both@example.com': { perDay: 80, perMonth: 120 },
  'nothing@example.com': { perDay: 0 },
};
const EMAILS = [...Object.keys(BUDGETS), 'free@example.com'];
const KEY_BUDGET = { perDayThousandths: 300_000, perMonthThousandths: 450_000 };

/** A bug: what is counted is never refused. */
export const UNGUARDED: Mutation = {
  writes: (writes) => [
    writes.map((write: Write) => (String(write.Key?.SK).startsWith('SPENT#') ? unconditional(write) : write)),
  ],
};

/** What creations against budgets came to. */
export interface Spent {
  creations: number;
  faultsMet: number;
  accepted: number;
  /** Refused because of a budget. */
  refused: number;
  /** Not answered, or told to slow down again and again. */
  unjudged: number;
  refunds: number;
  /** How much more than a budget was spent at any time: owner, period and thousandths. */
  over: string[];
  /** Counts that differ from what was spent, at the end. */
  wrong: string[];
}

/** Sums debits less refunds by owner, day and month, and compares each debit with the limit at its moment. */
const judge = (world: World, keyId: string) => {
  const spent = new Map<string, number>();
  const limits = new Map<string, number>();
  const found = { accepted: 0, refunds: 0, over: [] as string[] };
  const keys = new Map<string, string>();
  const add = (request: Item, amount: number): void => {
    const createdAt = String(request.createdAt);
    const owners = [String(request.endUserId), keys.get(String(request.requestId)) ?? ''];
    for (const owner of owners) {
      for (const period of [createdAt.slice(0, 10), createdAt.slice(0, 7)]) {
        const place = `${owner} ${period}`;
        const sum = (spent.get(place) ?? 0) + amount;
        spent.set(place, sum);
        const limit = limits.get(`${owner} ${period.length}`) ?? Number.POSITIVE_INFINITY;
        if (amount > 0 && sum > limit) found.over.push(`${place}: ${sum - limit}`);
      }
    }
  };
  const limit = (owner: string, { perDayThousandths: day, perMonthThousandths: month }: Budget): void => {
    limits.set(`${owner} ${'2026-03-30'.length}`, day ?? Number.POSITIVE_INFINITY);
    limits.set(`${owner} ${'2026-03'.length}`, month ?? Number.POSITIVE_INFINITY);
  };
  limit(keyId, KEY_BUDGET);
  world.table.witnesses.push((_, before, after) => {
    // A budget holds from the moment when it is stored.
    if (after?.budget && after.endUserId !== undefined)
      limit(String(after.endUserId), after.budget as Budget);
    if (after?.reason === 'generation') keys.set(String(after.reference), String(after.keyId));
    if (after?.SK !== 'REQUEST') return;
    if (!before) {
      found.accepted += 1;
      add(after, Number(after.debitThousandths));
    }
    if (before && before.refundThousandths === undefined && Number(after.refundThousandths) > 0) {
      found.refunds += 1;
      add(after, -Number(after.refundThousandths));
    }
  });
  return { spent, found };
};

/** Every fourth fails at its provider. */
const bodyOf = (endUserEmail: string, number: number) => ({
  model: 'xSD4.5',
  endUserEmail,
  prompt: promptOf(`p${number}`, number % 4 === 0 ? 'refused' : 'instant', 'once'),
});

/** Sets the budgets of all end-users, each as often as it is not answered with 200. */
const putBudgets = async ({ world, apiKey }: Service): Promise<void> => {
  for (const [email, body] of Object.entries(BUDGETS)) {
    const call = { route: 'put-end-user-budget', apiKey, parameters: { email }, body };
    while ((await callApi(world, call)).status !== 200) await world.scheduler.sleep(PAUSE_MS);
  }
};

/** The counts of the end that differ from the sums, of the owners that have a budget. */
const wrongCounts = (world: World, spent: ReadonlyMap<string, number>): string[] =>
  world.items('SPENT#').flatMap(({ SK, spentThousandths }) => {
    const [, owner, period] = String(SK).split('#');
    const due = spent.get(`${owner} ${period}`);
    return due === spentThousandths ? [] : [`${owner} ${period}: ${spentThousandths}, not ${due}`];
  });

/** So many creations of one account with budgets over three days, several at once, with faults. */
export const spend = (deployment: Deployment, creations: number, mutation?: Mutation): Promise<Spent> =>
  inService(deployment, { startsAt: STARTS_AT, mutation }, async (service) => {
    const { world, accountId, keyId, apiKey, call, settled } = service;
    const { random, scheduler, faults } = world;
    const { spent, found } = judge(world, keyId);
    await settled(setKeyBudget({ accountId, keyId }, KEY_BUDGET));
    for (const email of EMAILS) await call({ route: 'create-generation', body: bodyOf(email, 1) });
    let made = EMAILS.length;
    let refused = 0;
    let unjudged = 0;
    const create = async (number: number): Promise<void> => {
      const body = bodyOf(random.pick(EMAILS), number);
      const answer = await callPatiently(world, { route: 'create-generation', apiKey, body });
      if (answer.status === 402) refused += 1;
      if (answer.status >= 429) unjudged += 1;
    };
    faults.enabled = true;
    // While the end-users create.
    const budgets = putBudgets(service);
    for (let day = 1; day <= DAYS; day++) {
      while (made < (day * creations) / DAYS) {
        if (random.whole(0, 2) === 0)
          faults.add({ gap: random.whole(0, 40), fault: random.pick(CALL_FAULTS) });
        const batch = Array.from({ length: AT_ONCE }, () => create(made++));
        await settled(Promise.all(batch));
        await scheduler.advance(PAUSE_MS);
      }
      await scheduler.advance(STARTS_AT + day * DAY_MS - scheduler.now);
    }
    await settled(budgets);
    return {
      creations: made,
      faultsMet: faults.met,
      refused,
      unjudged,
      ...found,
      wrong: wrongCounts(world, spent),
    };
  });
