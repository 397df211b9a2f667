import { jest } from '@jest/globals';
import { type Account, toAccount } from '../../../../core/accounts/accounts.ts';
import { createRequest } from '../../../../core/creation/create-request.ts';
import { accountKey, accountPartition, BALANCE_EVENT_PREFIX } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { anImageSubmission, theFacts } from '../../builders/submissions.ts';
import { firstAttempts } from '../../fakes/fresh-first-attempts.ts';
import { memory } from '../../fakes/fresh-table.ts';

jest.spyOn(Math, 'random').mockReturnValue(0);

/** Where an account is told of a balance below 90. */
export const balanceWebhook = { url: 'https://hooks.example.com/balance', belowThousandths: 90_000 };
/** An account with 100 xTokens that is told below 90. */
export const given = (overrides: Partial<Account> = { balanceWebhook }) =>
  memory.put(accountKey(ACCOUNT_ID), anAccount(overrides));
/** The account as the table has it. */
export const stored = () => toAccount(memory.get(accountKey(ACCOUNT_ID)) ?? {});
/** Creates images of 6 xTokens each, as the account is when the call comes. */
export const create = (
  n = 1,
  { key, at = NOW, account = stored() }: { key?: string; at?: Date; account?: Account } = {},
) => createRequest(account, { ...anImageSubmission({ n }, { idempotencyKey: key }), now: at }, theFacts());
/** The events of the account's balance. */
export const events = () =>
  memory
    .partition(accountPartition(ACCOUNT_ID))
    .filter(({ SK }) => String(SK).startsWith(BALANCE_EVENT_PREFIX));
/** The webhooks whose first attempt was asked for, each once: an attempt is made once. */
export const deliveries = () => [...new Set(firstAttempts())];
