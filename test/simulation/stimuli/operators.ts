import {
  blockAccount,
  DEFAULT_LIMITS,
  insertAccount,
  setAccountLimits,
  unblockAccount,
} from '../../../core/accounts/accounts.ts';
import { insertApiKey, revokeApiKey, SCOPES, setKeyLimits } from '../../../core/accounts/api-keys.ts';
import { setBalanceWebhook, setKeyBudget } from '../../../core/accounts/debit-settings.ts';
import { toBudget } from '../../../core/end-users/budget-body.ts';
import { endRequest } from '../../../core/ending/end-request.ts';
import { failed } from '../../../core/ending/failed.ts';
import { changeBalance } from '../../../core/ledger/change-balance.ts';
import { verifyLedger } from '../../../core/ledger/verify-ledger.ts';
import { putRate } from '../../../core/models/model-settings.ts';
import { retryWebhook } from '../../../ops/retry-webhook.ts';
import type { Simulation } from '../runs/simulation.ts';
import { deploy } from '../world/deployments.ts';
import { BALANCE_URL } from '../world/upstream/receivers.ts';
import { type Action, MODELS } from './actions.ts';
import { callApi } from './api.ts';

/** Errors of a command whose precondition does not hold, or no longer holds. */
const REFUSALS = new Set(['ConflictError', 'NotFoundError']);

/** Runs an operator's command in a process that can die like any other. While nothing is wrong it is done or refused. */
const command = async ({ world }: Simulation, run: () => Promise<unknown>): Promise<void> => {
  const isCalm = world.isCalm();
  try {
    await world.lambda.run({ name: 'operator', handler: run, timeoutSeconds: 600 }, {});
  } catch (error) {
    const { name, message } = error as Error;
    if (isCalm && world.isCalm() && !REFUSALS.has(name))
      world.report(`[calm] an operator's command failed and nothing was wrong: ${name}: ${message}`);
  }
};

/** Does what an operator does with the command line, or nothing for what is no operator's action. */
export const operators = async (simulation: Simulation, action: Action): Promise<void> => {
  const { world, callers } = simulation;
  const accountOf = (index: number): string => callers[index]?.accountId ?? '';
  const run = (act: () => Promise<unknown>): Promise<void> => command(simulation, act);
  switch (action.do) {
    case 'top-up':
    case 'adjust': {
      const isTopUp = action.do === 'top-up';
      const amountThousandths = (isTopUp ? action.amount : -action.amount) * 1000;
      const reference = `${action.do} ${simulation.changes++}`;
      const reason = isTopUp ? 'topup' : 'admin_adjustment';
      // Who gives a command once gives it no key.
      const key = action.repeats === 0 ? {} : { idempotencyKey: reference };
      const change = { amountThousandths, reason, reference, ...key } as const;
      for (let time = 0; time <= action.repeats; time++) {
        await run(() => changeBalance(accountOf(action.account), change, new Date()));
      }
      return;
    }
    case 'block-account':
      return run(() => blockAccount(accountOf(action.account), new Date()));
    case 'unblock-account':
      return run(() => unblockAccount(accountOf(action.account)));
    case 'replace-key':
      return replaceKey(simulation, action.account);
    case 'set-key-budget': {
      const { accountId = '', keyId = '' } = callers[action.account] ?? {};
      return run(() => setKeyBudget({ accountId, keyId }, toBudget(action)));
    }
    case 'set-limits':
      return run(async () => {
        const limits = { ...DEFAULT_LIMITS, requestsPerSecond: world.random.pick([20, 50]) };
        await setAccountLimits(accountOf(action.account), limits);
        await setKeyLimits(accountOf(action.account), limits);
      });
    case 'set-rate': {
      const xTokens = world.random.whole(1, 9);
      return run(() => putRate('xZI1.0Pro', { perImage: [{ maxPixels: null, xTokens }] }));
    }
    case 'switch-model': {
      const model = MODELS[action.pick % MODELS.length] ?? '';
      return run(() => simulation.models.switch(model, action.pick % 2 === 0));
    }
    case 'rotate-secret': {
      const name = SECRETS[action.pick % SECRETS.length] ?? '';
      world.evidence.rotatedAt = world.scheduler.now;
      if (action.isLeaked) world.lateness.add('leaked secret', world.scheduler.now);
      world.secrets.rotate(name, action.isLeaked ? 0 : GRACE_MS);
      return;
    }
    case 'set-route':
    case 'set-running':
    case 'unroute':
    case 'set-retention':
    case 'redeploy':
      deploy(world, action);
      simulation.leftRoutes.check();
      return;
    case 'leave-route':
      return run(() => simulation.leftRoutes.leave(action.pick));
    case 'return-route':
      return run(() => simulation.leftRoutes.return(action.pick));
    case 'fail': {
      const open = simulation.witness.open();
      const life = open[action.pick % Math.max(1, open.length)];
      if (!life) return;
      world.evidence.interventions.add(life.requestId);
      world.evidence.failed.add(life.requestId);
      const failure = { code: 'internal_error', message: 'Failed by the operator.' } as const;
      return run(() => endRequest(life.requestId, failed(failure)));
    }
    case 'retry-webhook': {
      const lives = simulation.witness.all();
      const life = lives[action.pick % Math.max(1, lives.length)];
      if (life) await run(() => retryWebhook(life.requestId));
    }
  }
};

/** An operator gives an account a new key, and revokes the old one once the caller has it. */
const replaceKey = async (simulation: Simulation, index: number): Promise<void> => {
  const { world, callers, standing } = simulation;
  const caller = callers[index];
  if (!caller) return;
  const { accountId, apiKey: old, keyId } = caller;
  const options = { scopes: SCOPES, label: 'new', limits: DEFAULT_LIMITS };
  let made: Awaited<ReturnType<typeof insertApiKey>> | undefined;
  await command(simulation, async () => {
    made = await insertApiKey(accountId, options, new Date());
  });
  // Another command may have replaced it meanwhile.
  if (!made || caller.apiKey !== old) return;
  Object.assign(caller, { apiKey: made.text, keyId: made.apiKey.keyId });
  let isRevoked = false;
  await command(simulation, async () => {
    await revokeApiKey(keyId, new Date());
    isRevoked = true;
  });
  if (!isRevoked) return;
  await world.scheduler.sleep(KEY_CACHED_MS);
  standing.judgeRevoked(await callApi(world, { route: 'get-balance', apiKey: old }));
};

/** The secrets that operators replace, as the functions' environment names them. */
const SECRETS = ['arn:modelark-key', 'arn:modelstudio-key', 'arn:callback-secret', 'arn:fal-key'];
/** How long an operator waits before the old key of a provider is revoked: `docs/operating.md`, and a little. */
const GRACE_MS = 1_210_000;

/** How long a revoked key may still be taken: decisions, section 2. */
const KEY_CACHED_MS = 5_000;

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
    const { accountId } = account;
    const { text, apiKey } = await insertApiKey(accountId, options, new Date());
    const opening = { amountThousandths: OPENING_BALANCE, reason: 'topup', reference: 'opening' } as const;
    await changeBalance(accountId, opening, new Date());
    simulation.callers.push({ accountId, apiKey: text, keyId: apiKey.keyId });
  }
};

/** Has both accounts told of their balances. */
export const watchBalances = async ({ callers }: Simulation): Promise<void> => {
  for (const { accountId } of callers)
    await setBalanceWebhook(accountId, { url: BALANCE_URL, belowThousandths: OPENING_BALANCE / 2 });
};

/** Enough for a few requests, and soon too little for the next. */
const OPENING_BALANCE = 120_000;
