import type { WebhookAttempt } from '../../../core/deliveries/webhook-attempts.ts';
import { NOW } from './clocks.ts';
import { REQUEST_ID } from './entities.ts';

/** The first attempt of a request's own delivery, made at `NOW` and accepted in 12 ms. */
export const aWebhookAttempt = (overrides: Partial<WebhookAttempt> = {}): WebhookAttempt => ({
  requestId: REQUEST_ID,
  delivery: REQUEST_ID,
  number: 1,
  startedAt: NOW.toISOString(),
  milliseconds: 12,
  status: 204,
  ...overrides,
});
