import { DescribeExecutionCommand, ExecutionDoesNotExist } from '@aws-sdk/client-sfn';
import { Webhook } from 'standardwebhooks';
import { type ReceivedWebhook, signatureOf } from '../../unit/fakes/webhook-receiver.ts';
import { withStepFunctions } from './aws.ts';
import { type AnyRecord, eventually } from './client.ts';
import { type LocalService, ops } from './local-service.ts';

/** What a receiver is told. */
export interface WebhookEvent {
  type: string;
  timestamp: string;
  data: AnyRecord & { videos?: AnyRecord['images'] };
}

/** One try of a delivery, as `requests show` tells it. */
export interface ShownTry {
  delivery: string;
  number: number;
  startedAt: string;
  milliseconds: number;
  status?: number;
  error?: string;
}

/** What the official library makes of a delivery: its event. Throws when it does not accept it. */
export const verified = (webhook: ReceivedWebhook | undefined, secret: string): WebhookEvent => {
  if (!webhook) throw new Error('Nothing was received.');
  return new Webhook(secret).verify(webhook.body, signatureOf(webhook)) as WebhookEvent;
};

/** How a request's own delivery ended, which begins when the request has. */
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

/** Every try of a request's webhook, in time order. */
export const shownTries = async (service: LocalService, requestId: string): Promise<ShownTry[]> =>
  (await ops<{ webhooks: ShownTry[] }>(service, 'requests', 'show', '--id', requestId)).webhooks;
