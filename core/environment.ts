/** Every environment variable the functions read; the infrastructure sets them under the same names. */
export type EnvironmentName =
  | 'TABLE_NAME'
  | 'BUCKET_NAME'
  | 'GENERATION_STATE_MACHINE_ARN'
  | 'EXPIRY_STATE_MACHINE_ARN'
  | 'WEBHOOK_DELIVERY_STATE_MACHINE_ARN'
  | 'WEBHOOK_RETRY_SECONDS'
  | 'PUBLIC_BASE_URL'
  | 'FILE_DELIVERY_BASE_URL'
  | 'FILE_DELIVERY_KEY_PAIR_ID'
  | 'FILE_DELIVERY_KEY_SECRET_ARN'
  | 'OUTPUT_TTL_SECONDS'
  | 'RETENTION_DAYS'
  | 'PAUSE_SECONDS'
  | 'GUARDRAIL_ID'
  | 'GUARDRAIL_VERSION'
  | 'IMAGE_DEADLINE_SECONDS'
  | 'VIDEO_DEADLINE_SECONDS'
  | 'POLL_INTERVAL_SECONDS'
  | 'CALLBACK_SECRET_ARN'
  | 'CALLBACK_WAIT_SECONDS'
  | 'ALLOW_PRIVATE_TARGETS'
  | 'MODEL_ROUTES'
  | 'MODELARK_BASE_URL'
  | 'MODELARK_SECRET_ARN'
  | 'MODELSTUDIO_BASE_URL'
  | 'MODELSTUDIO_SECRET_ARN';

/** A variable's text. Throws, naming it, when the deployment left it out. */
export const requiredEnv = (name: EnvironmentName): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`Environment variable ${name} is not set.`);
  return value;
};

/** A variable that holds a number. Throws, naming it, when it is absent or no number. */
export const requiredNumberEnv = (name: EnvironmentName): number => {
  const value = Number(requiredEnv(name));
  if (!Number.isFinite(value)) throw new Error(`Environment variable ${name} is not a number.`);
  return value;
};

/** Whether URLs to loopback addresses are accepted: local runs only. */
export const allowPrivateTargets = (): boolean => process.env.ALLOW_PRIVATE_TARGETS === 'true';
