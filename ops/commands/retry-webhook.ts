import type { Command } from 'commander';
import { formatFields } from '../output.ts';
import { retryWebhook } from '../retry-webhook.ts';
import { about } from '../subject.ts';
import type { Perform, Verb } from '../verb.ts';

/** `requests retry-webhook` */
export const addRetryWebhookVerb = (requests: Command, perform: Perform): void => {
  const command = requests
    .command('retry-webhook')
    .description('deliver the webhook of a request again, with the same webhook id');
  about(command, 'id', 'the request').action(perform(retry));
};

const retry: Verb<{ id: string }> = async ({ id }, connected, { recorder }) => {
  await connected();
  const value = { ...(await retryWebhook(id)) };
  await (await recorder()).put({ subject: id });
  return { value, text: (columns) => formatFields(value, columns) };
};
