import { describe, expect, test } from '@jest/globals';
import { namesOfProvider, PROVIDER_IDS, PROVIDERS } from '../../core/provider-names.ts';
import { StackContext } from '../../lib/context.ts';
import { BOUNDARY_KEY } from '../../lib/permissions-boundary.ts';
import { VERSION } from '../../lib/release.ts';
import { RETRY_SECONDS } from '../unit/builders/webhook-schedule.ts';
import { LEAST, MOST } from './option-sets.ts';
import { render, synthesizeService } from './service-template.ts';

const variable = async (overrides: Record<string, unknown>, of: string, name: string): Promise<string> =>
  render((await synthesizeService(overrides)).functions[of]?.properties.Environment.Variables[name]);

/** Every context key but the routes: its text on the command line, and the function, variable and value it becomes. */
const OVERRIDES = [
  ['outputTtlSeconds', '60', 'workflow/settle-request', 'OUTPUT_TTL_SECONDS', '60'],
  ['retentionDays', '0.5', 'api/create-generation', 'RETENTION_DAYS', '0.5'],
  ['pauseSeconds', '30', 'workflow/fail-request', 'PAUSE_SECONDS', '30'],
  ['refusedWorkPerHour', '30', 'api/create-video', 'REFUSED_WORK_PER_HOUR', '30'],
  ['imageDeadlineSeconds', '20', 'workflow/query-provider', 'IMAGE_DEADLINE_SECONDS', '20'],
  ['videoDeadlineSeconds', '30', 'workflow/query-provider', 'VIDEO_DEADLINE_SECONDS', '30'],
  ['queueDeadlineSeconds', '40', 'workflow/dispatch-request', 'QUEUE_DEADLINE_SECONDS', '40'],
  ['pollIntervalSeconds', '1', 'workflow/query-provider', 'POLL_INTERVAL_SECONDS', '1'],
  ['callbackWaitSeconds', '7', 'events/reconcile', 'CALLBACK_WAIT_SECONDS', '7'],
  ['webhookRetrySeconds', '1,2', 'workflow/deliver-webhook', 'WEBHOOK_RETRY_SECONDS', '1,2'],
  ['publicBaseUrl', 'https://a.example/', 'api/create-generation', 'PUBLIC_BASE_URL', 'https://a.example'],
  [
    'deliveryBaseUrl',
    'HTTPS://F.Example/Media/',
    'api/get-generation',
    'FILE_DELIVERY_BASE_URL',
    'https://f.example/Media',
  ],
  ['allowPrivateTargets', 'true', 'workflow/store-outputs', 'ALLOW_PRIVATE_TARGETS', 'true'],
  [
    'userAgentUrl',
    'https://operator.example/',
    'workflow/deliver-webhook',
    'USER_AGENT',
    `generation-service/${VERSION} (+https://operator.example/)`,
  ],
  ['guardrailId', 'gr5k2', 'api/create-generation', 'GUARDRAIL_ID', 'gr5k2'],
  ['guardrailVersion', '3', 'api/create-generation', 'GUARDRAIL_VERSION', '3'],
  ['aiMarking', 'visible', 'workflow/dispatch-request', 'AI_MARKING', 'visible'],
  ['publishRates', 'true', 'api/list-models', 'PUBLISH_RATES', 'true'],
  ['openaiWaitSeconds', '60', 'api/create-openai-image', 'OPENAI_WAIT_SECONDS', '60'],
  ['openaiWaiting', '20', 'api/create-openai-image', 'OPENAI_WAITING', '20'],
  ['openaiWaitingInAll', '50', 'api/edit-openai-image', 'OPENAI_WAITING_IN_ALL', '50'],
  ...PROVIDER_IDS.flatMap((id) => {
    const names = namesOfProvider(id);
    const [url, previous] = [`http://localhost:1/${id}`, `https://${id}.example/v2`];
    return [
      [names.baseUrlContextKey, `${url}/`, 'workflow/dispatch-request', names.baseUrlVariable, url],
      [
        names.previousBaseUrlContextKey,
        previous,
        'events/reconcile',
        names.previousBaseUrlVariable,
        previous,
      ],
    ] as const;
  }),
] as const;

const ROUTES = { xSD5Pro: { provider: 'modelark', upstreamModel: 'endpoint-1' } };
/** All at once: the values differ per variable, so one synthesis serves every case. */
const GIVEN = {
  ...Object.fromEntries(OVERRIDES.map(([key, given]) => [key, given])),
  modelRoutes: JSON.stringify(ROUTES),
};

describe('the context', () => {
  test('has these keys and no others', () => {
    const elsewhere = [
      ...['apiDomainName', 'apiCertificateArn', 'filesDomainName', 'filesCertificateArn', 'filesWebAclArn'],
      ...[
        'deliveredGigabytesPerHour',
        'apiRequestsPerSecond',
        'apiBurst',
        'accessLogs',
        'executionLogs',
        'tracing',
        'logRetentionDays',
      ],
      ...[
        'removalPolicy',
        'models',
        'tableName',
        'exportBucket',
        'exportBucketOwner',
        'wafRequestsPer5Minutes',
      ],
      ...['stackName', 'signingKeys', 'reservedConcurrency', 'modelRoutes', 'maxRunning', 'providers'],
      ...['sandboxMaxRunning', 'reconcileIntervalSeconds', 'alarmEmail', 'canary', 'warmThroughput'],
      ...['console', 'openaiSurface', 'providerAccounts', 'reconcilerMemory'],
      BOUNDARY_KEY,
    ];
    const keys = [...OVERRIDES.map(([key]) => key), ...elsewhere];

    expect(Object.keys(StackContext.shape).toSorted()).toEqual(keys.toSorted());
  });

  test('names the service alone to servers of others, by default', async () => {
    expect(await variable({}, 'api/create-generation', 'USER_AGENT')).toBe(`generation-service/${VERSION}`);
  });

  test.each(OVERRIDES)('-c %s=%s reaches %s as %s=%s', async (_key, _given, name, variableName, value) => {
    expect(await variable(GIVEN, name, variableName)).toBe(value);
  });

  test('routes given as JSON on the command line replace those of the project', async () => {
    const value = await variable(GIVEN, 'api/list-models', 'MODEL_ROUTES');

    expect(JSON.parse(value)).toEqual({ xSD5Pro: [ROUTES.xSD5Pro] });
  });

  test('a limit of running calls is that of every route that has no lower one, the sandbox’s own too', async () => {
    const route = { provider: 'modelark', upstreamModel: 'endpoint-1' };
    const routes = {
      xSD5Pro: { ...route, requestsPerSecond: 3 },
      xQI3Pro: { ...route, upstreamModel: 'endpoint-2', maxRunning: 5 },
      'xZI1.0Pro': { ...route, upstreamModel: 'endpoint-3', maxRunning: 1 },
      'xW2.7S': { ...route, upstreamModel: 'endpoint-4', maxRunning: null },
    };
    const given = { providers: 'sandbox', maxRunning: '2', modelRoutes: JSON.stringify(routes) };

    const value = await variable(given, 'api/list-models', 'MODEL_ROUTES');

    expect(JSON.parse(value)).toEqual({
      xSD5Pro: [{ ...routes.xSD5Pro, maxRunning: 2 }],
      xQI3Pro: [{ ...routes.xQI3Pro, maxRunning: 2 }],
      'xZI1.0Pro': [routes['xZI1.0Pro']],
      'xW2.7S': [{ ...routes['xW2.7S'], maxRunning: 2 }],
      'xW3.0sPro': [expect.objectContaining({ maxRunning: 2 })],
    });
  });
});

// Every key's rule is tested in test/unit/lib/context.test.ts.
test.each([
  ['pauseSeconds', '0', /The context is not valid[\s\S]*at pauseSeconds/],
  ['alarmemail', 'a@example.com', /Unknown key: did you mean alarmEmail\? → at alarmemail/],
])('the invalid context %s=%s fails the synthesis and is named', async (key, value, message) => {
  await expect(synthesizeService({ [key]: value })).rejects.toThrow(message);
});

test('the smoke test finds how many calls may wait, where the context says so', async () => {
  const [given, none] = await Promise.all([synthesizeService(GIVEN), synthesizeService()]);

  expect(given.outputs.OpenaiWaitingInAll).toEqual({ Value: '50' });
  expect(none.outputs.OpenaiWaitingInAll).toBeUndefined();
});

describe('the time limit of the dispatch function', () => {
  test.each([
    [1, 31, LEAST],
    [840, 870, MOST],
  ])('leaves a deadline of %i s a margin: %i s', async (imageDeadlineSeconds, expected, context) => {
    const { functions } = await synthesizeService(context);

    expect(context).toMatchObject({ imageDeadlineSeconds });
    expect(functions['workflow/dispatch-request']?.properties.Timeout).toBe(expected);
  });
});

describe('the outputs of the stack', () => {
  test.each([
    ['Version', VERSION],
    ['TableName', 'DataStoreTable'],
    ['BucketName', 'DataStoreOutputs'],
    ['GenerationStateMachineArn', 'GenerationWorkflowMachineStateMachine'],
    ['ExpiryStateMachineArn', 'ExpiryWorkflowMachineStateMachine'],
    ['WebhookDeliveryStateMachineArn', 'WebhookWorkflowMachineStateMachine'],
    ['ModelArkBaseUrl', 'https://ark.ap-southeast.bytepluses.com/api/v3'],
    ['ModelStudioBaseUrl', 'https://dashscope-intl.aliyuncs.com'],
    ['FalBaseUrl', 'https://queue.fal.run'],
    ['ImageDeadlineSeconds', '600'],
    ['VideoDeadlineSeconds', '3600'],
    ['WebhookRetrySeconds', RETRY_SECONDS],
    ['BaseUrl', 'https://HttpApiRestApi.execute-api.AWS::Region.AWS::URLSuffix/prod'],
  ])('%s is %s', async (name, value) => {
    expect(render(await outputValue({}, name))).toBe(value);
  });

  test('the base URL is the public one when there is one', async () => {
    expect(await outputValue(GIVEN, 'BaseUrl')).toBe('https://a.example');
  });

  test.each([
    ...PROVIDER_IDS.map((id) => [namesOfProvider(id).secretOutput, `ProviderSecrets${PROVIDERS[id].label}`]),
    ['CallbackSecretName', 'ProviderSecretsCallbacks'],
  ])('%s is the name of a secret that operators set', async (name, secret) => {
    expect(JSON.stringify(await outputValue({}, name))).toContain(`{"Ref":"${secret}`);
  });

  const outputValue = async (overrides: Record<string, unknown>, name: string): Promise<unknown> =>
    ((await synthesizeService(overrides)).outputs[name] as { Value: unknown } | undefined)?.Value;
});
