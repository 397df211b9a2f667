import { WEBHOOK_RETENTION_SECONDS, type WebhookAttempt } from '../../../core/deliveries/webhook-attempts.ts';
import { webhookAttemptKey, webhookAttemptPartition } from '../../../core/table/keys.ts';
import { type Clock, toEpochSeconds } from '../../../core/time.ts';
import { deliverWebhook } from '../../../core/webhooks/deliver-webhook.ts';
import type { MemoryTable } from '../fakes/memory-table.ts';

/** Puts an attempt that was made. */
export const putAttempt = (memory: MemoryTable, attempt: WebhookAttempt): void =>
  memory.put(webhookAttemptKey(attempt.requestId, attempt.delivery, attempt.number), {
    ...attempt,
    ttl: toEpochSeconds(attempt.startedAt) + WEBHOOK_RETENTION_SECONDS,
  });

/** How many attempts of a delivery were made. */
const attemptsMade = (memory: MemoryTable, subjectId: string, delivery = subjectId): number =>
  memory
    .partition(webhookAttemptPartition(subjectId))
    .filter((item) => item.delivery === delivery && item.milliseconds !== undefined).length;

/** Makes the next attempt of a delivery, as its execution does. */
export const deliverNext = (
  memory: MemoryTable,
  { subjectId, delivery = subjectId }: { subjectId: string; delivery?: string },
  clock: Clock,
  random: () => number,
) =>
  deliverWebhook(
    { subjectId, delivery, attemptsMade: attemptsMade(memory, subjectId, delivery) },
    clock,
    random,
  );
