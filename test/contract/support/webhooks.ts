import { DescribeExecutionCommand, ExecutionDoesNotExist } from '@aws-sdk/client-sfn';
import { Webhook } from 'standardwebhooks';
import { type ReceivedWebhook, signatureOf } from '../../unit/servers/webhook-receiver.ts';
import { withStepFunctions } from './aws.ts';
import { type AnyRecord, eventually } from './client.ts';
import { type LocalService, ops } from './local-service.ts';

/** The body of a webhook delivery. */
export interface WebhookEvent {
  type: string;
  timestamp: string;
  data: AnyRecord & { videos?: AnyRecord['images'] };
}

/** One attempt of a delivery, as `requests show` prints it. */
export interface ShownAttempt {
  delivery: string;
  number: number;
  startedAt: string;
  milliseconds: number;
  status?: number;
  error?: string;
}

/** The event of a delivery, verified by the official library. Throws when the signature is wrong. */
export const verified = (webhook: ReceivedWebhook | undefined, secret: string): WebhookEvent => {
  if (!webhook) throw new Error('Nothing was received.');
  return new Webhook(secret).verify(webhook.body, signatureOf(webhook)) as WebhookEvent;
};

/** Waits for a request's webhook delivery to end and returns its status. */
export const deliveryEnded = async (
  service: LocalService,
  requestId: string,
): Promise<string | undefined> => {
  const { webhookDelivery } = service.stateMachines;
  const executionArn = `${webhookDelivery.replace(':stateMachine:', ':execution:')}:${requestId}`;
  return withStepFunctions(service, (client) =>
    eventually(
      async () => {
        try {
          return (await client.send(new DescribeExecutionCommand({ executionArn }))).status;
        } catch (error) {
          if (error instanceof ExecutionDoesNotExist) return undefined;
          throw error;
        }
      },
      (status) => status !== undefined && status !== 'RUNNING',
    ),
  );
};

/** Every attempt of a request's webhook delivery, in time order. */
export const shownAttempts = async (service: LocalService, requestId: string): Promise<ShownAttempt[]> =>
  (await ops<{ webhooks: ShownAttempt[] }>(service, 'requests', 'show', '--id', requestId)).webhooks;
