import { setKeyBudget } from '../../../core/accounts/debit-settings.ts';
import { Budgets } from '../rules/budget-rules.ts';
import { unconditional } from '../runs/mutations.ts';
import { callApi, callPatiently } from '../stimuli/api.ts';
import type { Deployment } from '../world/aws/step-functions.ts';
import type { Write } from '../world/aws/table.ts';
import { CALL_FAULTS } from '../world/engine/faults.ts';
import { promptOf } from '../world/upstream/wire-formats.ts';
import type { Mutation, World } from '../world/world.ts';
import { inService, type Service } from './service.ts';

const DAY_MS = 86_400_000;
/** The last hours of a day, the last day of its month, and the first hours of the next month: idle hours are simulated, too. */
const DAY_ENDS_AT = [1, 2].map((day) => Date.parse('2026-03-30T00:00:00.000Z') + day * DAY_MS);
const EDGE_MS = 3 * 3_600_000;
const STARTS_AT = (DAY_ENDS_AT[0] ?? 0) - EDGE_MS;
const ENDS_AT = [...DAY_ENDS_AT, (DAY_ENDS_AT[1] ?? 0) + EDGE_MS];
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
  /** Debits that exceeded a budget. */
  over: string[];
  /** Counts that differ from what was spent, at the end. */
  wrong: string[];
}

/** Counts what is accepted and refunded. */
const watch = (world: World) => {
  const found = { accepted: 0, refunds: 0 };
  world.table.witnesses.push((_, before, after) => {
    if (after?.SK !== 'REQUEST') return;
    if (!before) found.accepted += 1;
    else if (before.refundThousandths === undefined && Number(after.refundThousandths) > 0)
      found.refunds += 1;
  });
  return found;
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

/** So many creations of one account with budgets over three days, several at once, with faults. */
export const spend = (deployment: Deployment, creations: number, mutation?: Mutation): Promise<Spent> =>
  inService(deployment, { startsAt: STARTS_AT, mutation }, async (service) => {
    const { world, accountId, keyId, apiKey, call, settled } = service;
    const { random, scheduler, faults } = world;
    const budgets = new Budgets(world);
    const found = watch(world);
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
    const set = putBudgets(service);
    for (const [index, endsAt] of ENDS_AT.entries()) {
      while (made < ((index + 1) * creations) / ENDS_AT.length) {
        if (random.whole(0, 2) === 0)
          faults.add({ gap: random.whole(0, 40), fault: random.pick(CALL_FAULTS) });
        const batch = Array.from({ length: AT_ONCE }, () => create(made++));
        await settled(Promise.all(batch));
        await scheduler.advance(PAUSE_MS);
      }
      await scheduler.advance(endsAt - scheduler.now);
    }
    await settled(set);
    return {
      creations: made,
      faultsMet: faults.met,
      refused,
      unjudged,
      ...found,
      over: world.problems.filter((problem) => problem.startsWith('[budget]')),
      wrong: budgets.countProblems(),
    };
  });
