import type { Command } from 'commander';
import { text } from '../options.ts';
import { formatFields } from '../output.ts';
import { retryWebhook } from '../retry-webhook.ts';
import type { Perform, Verb } from '../verb.ts';

/** `requests retry-webhook` */
export const addRetryWebhookVerb = (requests: Command, perform: Perform): void => {
  requests
    .command('retry-webhook')
    .description('deliver the webhook of a request again, with the same webhook id')
    .requiredOption('--id <id>', 'the request', text)
    .action(perform(retry));
};

const retry: Verb<{ id: string }> = async ({ id }, connected) => {
  await connected();
  const value = { ...(await retryWebhook(id)) };
  return { value, text: (columns) => formatFields(value, columns) };
};
