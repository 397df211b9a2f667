import { findAccount } from '../accounts/accounts.ts';
import { findBalanceEvent } from '../accounts/balance-events.ts';
import { requiredEnv } from '../environment.ts';
import { loadUrlSigner } from '../files/signed-urls.ts';
import { parseBalanceEventId } from '../ids.ts';
import { renderRecord } from '../requests/render-record.ts';
import { isRemoved, isTerminal } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import type { Instant } from '../time.ts';
import { balanceWebhookOf, type WebhookEvent, webhookEventOf } from './webhook-rules.ts';

/** What a webhook tells of: the end of a request, or an event of a balance. */
export interface WebhookSubject {
  id: string;
  accountId: string;
  url: string;
  /** When the request ended, or the event was written. */
  at: Instant;
  /** The body at this time: URLs in it are freshly signed. */
  render(now: Date): Promise<WebhookEvent>;
}

/**
 * What the webhook with this id tells of, strongly consistent. Undefined when there is nothing to tell: the request or account is gone, or
 * has no webhook, or the request is unfinished.
 */
export const findSubject = async (id: string, now: Date): Promise<WebhookSubject | undefined> => {
  const ofBalance = parseBalanceEventId(id);
  if (ofBalance) return findBalanceSubject(ofBalance);
  const request = await findRequest(id);
  const url = request?.webhookUrl;
  if (!request || url === undefined || !isTerminal(request) || isRemoved(request, now)) return undefined;
  const { accountId, finishedAt: at = '' } = request;
  const render = async (at: Date): Promise<WebhookEvent> => {
    const signUrl = await loadUrlSigner();
    const record = renderRecord(request, { now: at, publicBaseUrl: requiredEnv('PUBLIC_BASE_URL'), signUrl });
    return webhookEventOf(request, record);
  };
  return { id, accountId, url, at, render };
};

/** Goes to the account's webhook of today: an attempt after a change goes to the new address. */
const findBalanceSubject = async ({
  eventId: id,
  accountId,
}: {
  eventId: string;
  accountId: string;
}): Promise<WebhookSubject | undefined> => {
  const [event, account] = await Promise.all([findBalanceEvent(accountId, id), findAccount(accountId)]);
  const url = account?.balanceWebhook?.url;
  if (!event || url === undefined) return undefined;
  return { id, accountId, url, at: event.at, render: async () => balanceWebhookOf(event) };
};
