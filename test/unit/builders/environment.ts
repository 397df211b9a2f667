import { namesOfProvider, PROVIDER_IDS, PROVIDERS } from '../../../core/provider-names.ts';

/**
 * The functions' environment, as the infrastructure sets it. Outside the projects `unit` and `workflow`, import it before anything in
 * `core`: the logger reads its level when it is created. No address in it is reachable, so an unmocked call fails instead of using the network.
 */
Object.assign(process.env, {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
  POWERTOOLS_LOG_LEVEL: 'SILENT',
  POWERTOOLS_METRICS_DISABLED: 'true',
  SERVICE_VERSION: '1.2.3',
  TABLE_NAME: 'table',
  BUCKET_NAME: 'bucket',
  GENERATION_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:111122223333:stateMachine:generation',
  EXPIRY_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:111122223333:stateMachine:expiry',
  WEBHOOK_DELIVERY_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:111122223333:stateMachine:webhook-delivery',
  DELIVER_WEBHOOK_FUNCTION_ARN: 'arn:aws:lambda:us-east-1:111122223333:function:deliver-webhook',
  VERIFY_LEDGERS_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:111122223333:stateMachine:verify-ledgers',
  MEASURE_CLIPS_FUNCTION_ARN: 'arn:aws:lambda:us-east-1:111122223333:function:measure-clips',
  PUBLIC_BASE_URL: 'https://api.example.com',
  FILE_DELIVERY_BASE_URL: 'https://files.example.com',
  FILE_DELIVERY_KEY_PAIR_ID: 'K2EXAMPLE',
  FILE_DELIVERY_KEY_SECRET_ARN: 'arn:delivery-key',
  OUTPUT_TTL_SECONDS: '82800',
  RETENTION_DAYS: '90',
  PAUSE_SECONDS: '180',
  REFUSED_WORK_PER_HOUR: '60',
  IMAGE_DEADLINE_SECONDS: '600',
  VIDEO_DEADLINE_SECONDS: '3600',
  QUEUE_DEADLINE_SECONDS: '3600',
  POLL_INTERVAL_SECONDS: '2',
  CALLBACK_WAIT_SECONDS: '300',
  CALLBACK_SECRET_ARN: 'arn:callback-secret',
  CANARY_KEY_SECRET_ARN: 'arn:canary-key',
  OPENAI_WAIT_SECONDS: '24',
  OPENAI_WAITING: '10',
  OPENAI_WAITING_IN_ALL: '200',
  CANARY_MODEL: 'xSD4.5',
  ALLOW_PRIVATE_TARGETS: 'false',
  USER_AGENT: 'generation-service/1.2.3 (+https://operator.example)',
  MODEL_ROUTES: JSON.stringify({
    'xSD4.5': { provider: 'modelark', upstreamModel: 'seedream' },
    xSD5Pro: { provider: 'modelark', upstreamModel: 'seedream-pro' },
    xQI3Pro: { provider: 'modelstudio', upstreamModel: 'qwen-image' },
    'xZI1.0Pro': { provider: 'modelstudio', upstreamModel: 'z-image' },
    'xW2.7S': { provider: 'modelstudio', upstreamModel: 'wan-i2v' },
    'xW3.0s': { provider: 'modelstudio', upstreamModel: 'wan-video' },
  }),
  ...Object.fromEntries(
    PROVIDER_IDS.flatMap((id) => {
      const { baseUrlVariable, secretVariable } = namesOfProvider(id);
      const { sandboxPath } = PROVIDERS[id];
      return [
        [baseUrlVariable, `https://${id}.example.com${sandboxPath}`],
        [secretVariable, `arn:${id}-key`],
      ];
    }),
  ),
});

/** Sets variables while `run` runs, then restores them. */
export const withEnvironment = async <T>(
  variables: Record<string, string>,
  run: () => T | Promise<T>,
): Promise<T> => {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    return await run();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
};
