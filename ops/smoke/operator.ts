import { insertAccount, type RequestLimits } from '../../core/accounts/accounts.ts';
import { insertApiKey, SCOPES } from '../../core/accounts/api-keys.ts';
import { deleteEndUser } from '../../core/deletion/delete-end-user.ts';
import { listWebhookAttempts, type WebhookAttempt } from '../../core/deliveries/webhook-attempts.ts';
import { endRequest } from '../../core/ending/end-request.ts';
import { failed } from '../../core/ending/failed.ts';
import { NotFoundError, ServiceError } from '../../core/errors.ts';
import { changeBalance } from '../../core/ledger/change-balance.ts';
import { type LedgerVerification, verifyLedger } from '../../core/ledger/verify-ledger.ts';
import { listModelSettings, type ModelSettings } from '../../core/models/model-settings.ts';
import type { Thousandths } from '../../core/money.ts';
import { listRequestIdsOfAccount } from '../../core/requests/account-requests.ts';
import { isTerminal } from '../../core/requests/request-rules.ts';
import { findRequest } from '../../core/requests/requests.ts';
import { systemClock } from '../../core/time.ts';
import { stopWorkflow } from '../execution-history.ts';
import { removeAccount } from '../remove-account.ts';
import { SMOKE_EMAIL } from './plan.ts';
import { poll } from './poll.ts';

/** Actions of a smoke test with the operator's permissions. */
export interface Operator {
  /** A new account with nothing; its id. */
  createAccount(): Promise<string>;
  /** A new key of an account; its text. */
  createKey(accountId: string, limits: RequestLimits): Promise<string>;
  topUp(accountId: string, amountThousandths: Thousandths): Promise<void>;
  modelSettings(): Promise<ReadonlyMap<string, ModelSettings>>;
  webhookAttempts(requestId: string): Promise<WebhookAttempt[]>;
  verifyLedger(accountId: string): Promise<LedgerVerification>;
  /** Ends what is unfinished, and removes the account with everything in it. Rejects when something is left. */
  removeAccount(accountId: string, requestIds: readonly string[]): Promise<void>;
}

/** Seconds in which an index shows every request, and a request that ends is let go. */
const REMOVAL_SECONDS = 60;
const NAME = 'npm run smoke';

/** The operator of the service that `connect` chose. */
export const createOperator = (): Operator => ({
  createAccount: async () => (await insertAccount(NAME, systemClock.now())).accountId,
  createKey: async (accountId, limits) =>
    (await insertApiKey(accountId, { scopes: SCOPES, label: NAME, limits }, systemClock.now())).text,
  async topUp(accountId, amountThousandths) {
    const change = { amountThousandths, reason: 'topup', reference: NAME } as const;
    await changeBalance(accountId, change, systemClock.now());
  },
  modelSettings: listModelSettings,
  webhookAttempts: listWebhookAttempts,
  verifyLedger: (accountId) => verifyLedger([{ accountId }]),
  async removeAccount(accountId, requestIds) {
    let refusal: unknown;
    // Not stopped with the run: it must go on then.
    const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
    const removed = await poll({ pause }, { everySeconds: 1, forSeconds: REMOVAL_SECONDS }, async () => {
      try {
        await failRequests(accountId, requestIds);
        await removeEndUser(accountId);
        await removeAccount(accountId);
        return true;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        refusal = error;
        return undefined;
      }
    });
    if (!removed) throw refusal;
  },
});

/** Fails the account's unfinished requests, those that the index does not show yet included if they are named. */
const failRequests = async (accountId: string, named: readonly string[]): Promise<void> => {
  const requestIds = new Set(named);
  for await (const requestId of listRequestIdsOfAccount(accountId)) requestIds.add(requestId);
  const message = 'The smoke test ended before this request.';
  for (const requestId of requestIds) {
    const request = await findRequest(requestId);
    if (!request || isTerminal(request)) continue;
    await endRequest(requestId, failed({ code: 'internal_error', message }), { operatorNote: NAME });
    await stopWorkflow(requestId, message);
  }
};

const removeEndUser = async (accountId: string): Promise<void> => {
  try {
    await deleteEndUser({ accountId, email: SMOKE_EMAIL });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
};
