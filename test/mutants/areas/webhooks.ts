import { bugs } from '../mutant.ts';

/** Bugs in what receivers are told. */
export const WEBHOOKS = bugs('webhooks', [
  [
    'no webhook is sent for a failed request',
    'core/ending/close-request.ts',
    'if (request.webhookUrl !== undefined) await',
    "if (request.webhookUrl !== undefined && request.status !== 'failed') await",
  ],
  [
    'a webhook that is late is not sent once the files have expired',
    'core/webhooks/deliver-webhook.ts',
    '{ type, timestamp: at,',
    "{ type: toInstant(sentAt) >= request.expiresAt ? 'generation.expired' : type, timestamp: at,",
  ],
  [
    "a receiver's refusal counts as delivered",
    'core/webhooks/webhook-rules.ts',
    'status >= 200 && status < 300',
    'status >= 200 && status !== HTTP_GONE',
  ],
  [
    'a receiver that is gone is called again',
    'core/webhooks/webhook-rules.ts',
    'const HTTP_GONE = 410;',
    'const HTTP_GONE = 404;',
  ],
  [
    'the first pause of the schedule is left out',
    'core/webhooks/webhook-rules.ts',
    'scheduleSeconds[failedAttempts - 1]',
    'scheduleSeconds[failedAttempts]',
  ],
  [
    'a fault of our own ends a delivery',
    'statemachines/webhook-delivery.asl.json',
    '"Next": "Wait after our own fault"',
    '"Next": "Not delivered"',
  ],
  [
    'an attempt of a webhook is made twice',
    'core/deliveries/webhook-attempts.ts',
    "'attribute_exists(PK) AND (attribute_not_exists(startedAt) OR claimId = :claimId)'",
    "'attribute_exists(PK) AND claimId <> :claimId'",
  ],
  [
    'a first attempt that failed is the last',
    'core/webhooks/deliver-webhook.ts',
    "if (subject && step.next === 'wait')",
    "if (subject && step.next === 'stop')",
  ],
]);
