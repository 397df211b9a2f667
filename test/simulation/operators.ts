import { blockAccount, insertAccount, unblockAccount } from '../../core/accounts/accounts.ts';
import { insertApiKey, SCOPES } from '../../core/accounts/api-keys.ts';
import { changeBalance } from '../../core/ledger/ledger.ts';
import { verifyLedger } from '../../core/ledger/verify-ledger.ts';
import { retryWebhook } from '../../core/webhooks/retry-webhook.ts';
import { failStoredRequest } from '../../core/workflow/fail-request.ts';
import type { Action } from './actions.ts';
import type { Simulation } from './simulation.ts';
import type { World } from './world.ts';

/** Runs an operator's command in a process that can die like any other. */
const command = (world: World, run: () => Promise<unknown>): Promise<unknown> =>
  world.lambda.run({ name: 'operator', handler: run, timeoutSeconds: 600 }, {}).catch(() => undefined);

/** Does what an operator does with the command line, or nothing for what is no operator's action. */
export const operators = async (simulation: Simulation, action: Action): Promise<void> => {
  const { world, callers } = simulation;
  const accountOf = (index: number): string => callers[index]?.accountId ?? '';
  switch (action.do) {
    case 'top-up':
    case 'adjust': {
      const isTopUp = action.do === 'top-up';
      const amountThousandths = (isTopUp ? action.amount : -action.amount) * 1000;
      const reference = `${action.do} ${simulation.changes++}`;
      const reason = isTopUp ? 'topup' : 'admin_adjustment';
      const change = { amountThousandths, reason, reference } as const;
      await command(world, () => changeBalance(accountOf(action.account), change, new Date()));
      return;
    }
    case 'block-account':
      await command(world, () => blockAccount(accountOf(action.account), new Date()));
      return;
    case 'unblock-account':
      await command(world, () => unblockAccount(accountOf(action.account)));
      return;
    case 'fail': {
      const open = simulation.witness.open();
      const life = open[action.pick % Math.max(1, open.length)];
      if (!life) return;
      world.evidence.interventions.add(life.requestId);
      const failure = { code: 'internal_error', message: 'Failed by the operator.' } as const;
      await command(world, () => failStoredRequest(life.requestId, failure));
      return;
    }
    case 'retry-webhook': {
      const lives = simulation.lives();
      const life = lives[action.pick % Math.max(1, lives.length)];
      if (life) await command(world, () => retryWebhook(life.requestId));
    }
  }
};

/** What `ledger verify` finds wrong. */
export const verifiedProblems = async ({ callers }: Simulation): Promise<string[]> => {
  const { problems } = await verifyLedger(callers);
  return problems.map(({ kind, detail }) => `ledger verify: ${kind}: ${detail}`);
};

/** Two accounts, each with a key and some money. */
export const openAccounts = async (simulation: Simulation): Promise<void> => {
  for (const name of ['one', 'two']) {
    const account = await insertAccount(name, new Date());
    const options = { scopes: SCOPES, label: name, limits: account.limits };
    const { text } = await insertApiKey(account.accountId, options, new Date());
    const amountThousandths = OPENING_BALANCE;
    await changeBalance(
      account.accountId,
      { amountThousandths, reason: 'topup', reference: 'opening' },
      new Date(),
    );
    simulation.callers.push({ accountId: account.accountId, apiKey: text });
  }
};

/** Enough for a few requests, and soon too little for the next. */
const OPENING_BALANCE = 120_000;
