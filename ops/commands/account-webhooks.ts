import type { Command } from 'commander';
import { type Account, getAccount } from '../../core/accounts/accounts.ts';
import {
  type BalanceEvent,
  findBalanceEvent,
  listBalanceEvents,
} from '../../core/accounts/balance-events.ts';
import { setBalanceWebhook } from '../../core/accounts/debit-settings.ts';
import { webhookUrlProblem } from '../../core/creation/creation-fields.ts';
import { listWebhookAttempts, type WebhookAttempt } from '../../core/deliveries/webhook-attempts.ts';
import { requiredEnv } from '../../core/environment.ts';
import { ConflictError, NotFoundError } from '../../core/errors.ts';
import { startWebhookDelivery } from '../../core/executions/executions.ts';
import { type Thousandths, toXTokens } from '../../core/money.ts';
import { systemClock, toInstant } from '../../core/time.ts';
import { balanceWebhookOf, newDeliverySuffix, webhookIdOf } from '../../core/webhooks/webhook-rules.ts';
import { positiveAmount, text } from '../options.ts';
import { formatFields, formatTable } from '../output.ts';
import { about } from '../subject.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';

/** `accounts set-webhook|webhooks|retry-webhook`; `verb` makes a command about an account. */
export const addAccountWebhookVerbs = (
  verb: (name: string, description: string) => Command,
  perform: Perform,
): void => {
  verb('set-webhook', "where events are sent when the account's balance is low, or does not suffice")
    .option('--url <url>', 'where to post balance.low and balance.exhausted, signed as all webhooks', text)
    .option(
      '--below <xTokens>',
      'balance.low: once each time a debit takes the balance below this',
      positiveAmount,
    )
    .option('--none', 'send nothing any more')
    .action(perform(setWebhook));
  verb('webhooks', 'webhooks of its balance, with their attempts').action(perform(list));
  const command = verb('retry-webhook', 'send a webhook of the balance again, same id');
  about(command, 'event', 'the event').action(perform(retry));
};

/** The webhook of an account as operators see it. */
export const shownWebhook = ({ balanceWebhook }: Pick<Account, 'balanceWebhook'>) => ({
  url: balanceWebhook?.url ?? null,
  below: balanceWebhook ? toXTokens(balanceWebhook.belowThousandths) : null,
});

const setWebhook: Verb<{ account: string; url?: string; below?: Thousandths; none?: true }> = async (
  { account: accountId, url, below, none },
  connected,
  { recorder },
) => {
  const webhook = url !== undefined && below !== undefined ? { url, belowThousandths: below } : undefined;
  const isRemoval = none === true && url === undefined && below === undefined;
  if (!webhook && !isRemoval) {
    throw new UsageError(
      'Give --url and --below, or --none: ops accounts set-webhook acc_01J… --url https://example.com/hook --below 50',
    );
  }
  if (webhook && none) throw new UsageError('Give either --none, or --url and --below.');
  const { stackName } = await connected();
  const problem = webhook && webhookUrlProblem(webhook.url, stackName === undefined);
  if (problem !== undefined) throw new UsageError(`The URL ${problem}.`);
  // A URL may hold a secret, and the audit is kept for ever.
  const detail = webhook
    ? `${new URL(webhook.url).host}, below ${toXTokens(webhook.belowThousandths)}`
    : 'none';
  const extraWrites = (await recorder()).write({ accountId, detail });
  const value = { accountId, ...shownWebhook(await setBalanceWebhook(accountId, webhook, extraWrites)) };
  return { value, text: (columns) => formatFields(value, columns) };
};

const list: Verb<{ account: string }> = async ({ account }, connected) => {
  await connected();
  const { accountId } = await getAccount(account);
  const value: Awaited<ReturnType<typeof shownEvent>>[] = [];
  for (const event of await listBalanceEvents(accountId)) value.push(await shownEvent(event));
  return {
    value,
    text: (columns) =>
      formatTable(
        [{ id: 'event' }, 'type', 'at', 'balance', 'attempts', 'last'],
        value.map(({ eventId, type, at, data, attempts }) => {
          const last = attempts.at(-1);
          return [eventId, type, at, data.xTokens, attempts.length, last && (last.status ?? last.error)];
        }),
        columns,
      ),
  };
};

const shownEvent = async (event: BalanceEvent) => {
  const { eventId } = event;
  const { type, timestamp: at, data } = balanceWebhookOf(event);
  return { eventId, type, at, data, attempts: (await listWebhookAttempts(eventId)).map(shownAttempt) };
};

const shownAttempt = ({ number, startedAt, milliseconds, status, error }: WebhookAttempt) => ({
  number,
  startedAt,
  milliseconds,
  ...(status !== undefined && { status }),
  ...(error !== undefined && { error }),
});

const retry: Verb<{ account: string; event: string }> = async (
  { account: accountId, event },
  connected,
  { recorder },
) => {
  await connected();
  const { balanceWebhook } = await getAccount(accountId);
  if (!(await findBalanceEvent(accountId, event)))
    throw new NotFoundError(`Account ${accountId} has no event ${event}.`);
  if (!balanceWebhook) throw new ConflictError(`Account ${accountId} has no webhook.`);
  const now = systemClock.now();
  await startWebhookDelivery(
    requiredEnv('WEBHOOK_DELIVERY_STATE_MACHINE_ARN'),
    { id: event, accountId },
    { suffix: newDeliverySuffix(now) },
  );
  await (await recorder()).put({ accountId, subject: event });
  const value = { webhookId: webhookIdOf(event), queuedAt: toInstant(now) };
  return { value, text: (columns) => formatFields(value, columns) };
};
