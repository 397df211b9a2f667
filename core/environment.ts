import type { RequestKind } from './ids.ts';
import type { ProviderNames } from './provider-names.ts';

/** Every environment variable that the functions and the operators' command line read. `lib/` sets them by the same type. */
export type EnvironmentName =
  | 'STACK_NAME'
  | 'SERVICE_VERSION'
  | 'TABLE_NAME'
  | 'BUCKET_NAME'
  | 'GENERATION_STATE_MACHINE_ARN'
  | 'EXPIRY_STATE_MACHINE_ARN'
  | 'WEBHOOK_DELIVERY_STATE_MACHINE_ARN'
  | 'DELIVER_WEBHOOK_FUNCTION_ARN'
  | 'VERIFY_LEDGERS_STATE_MACHINE_ARN'
  | 'STATE_MACHINE_ARNS'
  | 'WEBHOOK_RETRY_SECONDS'
  | 'MEASURE_CLIPS_FUNCTION_ARN'
  | 'PUBLIC_BASE_URL'
  | 'FILE_DELIVERY_BASE_URL'
  | 'FILE_DELIVERY_DOMAIN'
  | 'FILE_DELIVERY_KEY_PAIR_ID'
  | 'FILE_DELIVERY_KEY_SECRET_ARN'
  | 'OUTPUT_TTL_SECONDS'
  | 'RETENTION_DAYS'
  | 'PAUSE_SECONDS'
  | 'REFUSED_WORK_PER_HOUR'
  | 'GUARDRAIL_ID'
  | 'GUARDRAIL_VERSION'
  | 'IMAGE_DEADLINE_SECONDS'
  | 'VIDEO_DEADLINE_SECONDS'
  | 'QUEUE_DEADLINE_SECONDS'
  | 'POLL_INTERVAL_SECONDS'
  | 'CALLBACK_SECRET_ARN'
  | 'CALLBACK_WAIT_SECONDS'
  | 'ALLOW_PRIVATE_TARGETS'
  | 'PUBLISH_RATES'
  | 'AI_MARKING'
  | 'OPENAI_WAIT_SECONDS'
  | 'OPENAI_WAITING'
  | 'OPENAI_WAITING_IN_ALL'
  | 'USER_AGENT'
  | 'MODEL_ROUTES'
  | 'CANARY_MODEL'
  | 'CANARY_KEY_SECRET_ARN'
  | ProviderNames['baseUrlVariable' | 'previousBaseUrlVariable' | 'secretVariable'];

/** A variable's value. Throws an error naming the variable when it is absent or empty. */
export const requiredEnv = (name: EnvironmentName): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`Environment variable ${name} is not set.`);
  return value;
};

/** A variable's value as a number. Throws an error naming the variable when it is absent or not a number. */
export const requiredNumberEnv = (name: EnvironmentName): number => {
  const value = Number(requiredEnv(name));
  if (!Number.isFinite(value)) throw new Error(`Environment variable ${name} is not a number.`);
  return value;
};

/** Whether requests may go to private and loopback addresses. Only a local run sets this. */
export const allowPrivateTargets = (): boolean => process.env.ALLOW_PRIVATE_TARGETS === 'true';

/** Whether makers are asked for their visible mark of generated media: the operator's choice. */
export const asksForVisibleMark = (): boolean => process.env.AI_MARKING === 'visible';

/** Whether `GET /v1/models` shows rates: the operator's choice. */
export const publishesRates = (): boolean => process.env.PUBLISH_RATES === 'true';

/**
 * The user agent: `generation-service/<version>`, with a URL if the operator sets one. Every call to an
 * outside server carries it, because some refuse calls without one. Throws when the environment lacks it.
 */
export const userAgent = (): string => requiredEnv('USER_AGENT');

/** The deployment's settings that the rules need. */
export interface WorkflowSettings {
  /** Seconds from the first call to a provider until an unfinished request fails. */
  deadlineSeconds: Record<RequestKind, number>;
  /** Seconds from its creation until a request that was never dispatched fails. */
  queueDeadlineSeconds: number;
  /** Shortest pause between two queries of a task, in seconds. */
  pollIntervalSeconds: number;
}

/** The settings of the deployment, from the environment. Throws, naming the variable, when one is missing. */
export const workflowSettings = (): WorkflowSettings => ({
  deadlineSeconds: {
    image: requiredNumberEnv('IMAGE_DEADLINE_SECONDS'),
    video: requiredNumberEnv('VIDEO_DEADLINE_SECONDS'),
  },
  queueDeadlineSeconds: requiredNumberEnv('QUEUE_DEADLINE_SECONDS'),
  pollIntervalSeconds: requiredNumberEnv('POLL_INTERVAL_SECONDS'),
});
