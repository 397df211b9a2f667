import { describe, expect, test } from '@jest/globals';
import { namesOfProvider, PROVIDER_IDS, PROVIDERS } from '../../core/provider-names.ts';
import { readDocument, tableRows } from '../unit/docs/documents.ts';
import { codeOf, environmentNames, variablesNamedIn } from './function-code.ts';
import { PRODUCTION } from './option-sets.ts';
import {
  EVERYTHING_CONFIGURED,
  ofType,
  render,
  type ServiceTemplate,
  synthesizeService,
  type TemplateFunction,
} from './service-template.ts';

/** Timeout of every function, in seconds. */
const TIMEOUT_SECONDS: Record<string, number> = {
  'api/block-end-user': 29,
  'api/bulk-delete-generations': 29,
  'api/create-generation': 29,
  'api/create-openai-image': 300,
  'api/create-quote': 29,
  'api/create-upload': 29,
  'api/create-video': 29,
  'api/delete-end-user': 29,
  'api/delete-generation': 29,
  'api/edit-openai-image': 300,
  'api/get-balance': 29,
  'api/get-end-user-budget': 29,
  'api/get-generation': 29,
  'api/get-openai-model': 29,
  'api/get-usage': 29,
  'api/get-video': 29,
  'api/list-balance-history': 29,
  'api/list-end-users': 29,
  'api/list-generations': 29,
  'api/list-models': 29,
  'api/list-openai-models': 29,
  'api/list-videos': 29,
  'api/openai-videos': 29,
  'api/put-end-user-budget': 29,
  'api/receive-callback': 29,
  'api/unblock-end-user': 29,
  'events/create-signing-key': 60,
  'events/publish-pages': 60,
  // A run takes less than a minute, and a last provider query 10 s.
  'events/reconcile': 120,
  'events/reconcile-lost': 60,
  // One image takes 4 min at most.
  'events/run-canary': 300,
  // Executions are stopped for as long as Lambda allows.
  'events/stop-executions': 900,
  // Measuring takes 8 s.
  'media/measure-clips': 10,
  'workflow/await-capacity': 45,
  'workflow/await-provider': 45,
  // The 10 min deadline of an image, plus 30 s to load, record and answer.
  'workflow/dispatch-request': 630,
  'workflow/expire-requests': 60,
  'workflow/fail-request': 30,
  'workflow/list-expired-requests': 30,
  'workflow/list-ledgers': 60,
  'workflow/query-provider': 45,
  // The receiver has 15 s.
  'workflow/deliver-webhook': 45,
  'workflow/settle-request': 30,
  'workflow/store-outputs': 900,
  'workflow/verify-ledgers': 900,
};
const NAMES = Object.keys(TIMEOUT_SECONDS);

const service = await synthesizeService(EVERYTHING_CONFIGURED);

const functionNamed = (name: string): TemplateFunction => {
  const found = service.functions[name];
  if (!found) throw new Error(`There is no function ${name}.`);
  return found;
};
const variablesOf = (name: string): Record<string, unknown> =>
  functionNamed(name).properties.Environment?.Variables ?? {};

test('these are all the functions of the service', () => {
  expect(Object.keys(service.functions).toSorted()).toEqual(NAMES.toSorted());
  expect(ofType(service.resources, 'AWS::Lambda::Function')).toHaveLength(NAMES.length);
});

test('the guide to reliability has their time limits', () => {
  const documented = tableRows(readDocument('docs/reliability.md'), 'time limit', 'functions').flatMap(
    ([limit, text = '']) => [...text.matchAll(/`([\w-]+\/[\w*-]+)`/g)].map(([, name]) => [name, limit]),
  );
  const expected = NAMES.map((name) => [
    name.startsWith('api/') && TIMEOUT_SECONDS[name] === 29 ? 'api/*' : name,
    `${TIMEOUT_SECONDS[name]} s`,
  ]);
  expect(new Set(documented.map(String))).toEqual(new Set(expected.map(String)));
});

describe.each(NAMES)('%s', (name) => {
  test('runs on the common runtime and architecture', () => {
    expect(functionNamed(name).properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
    });
  });

  test('has its timeout', () => {
    expect(functionNamed(name).properties.Timeout).toBe(TIMEOUT_SECONDS[name]);
  });

  test('logs JSON, kept for 30 days', () => {
    const { LogGroup, LogFormat } = functionNamed(name).properties.LoggingConfig;

    expect(LogFormat).toBe('JSON');
    expect(service.resources[LogGroup.Ref]).toMatchObject({
      Type: 'AWS::Logs::LogGroup',
      Properties: { RetentionInDays: 30 },
    });
  });

  test('has exactly the variables that its code names', () => {
    expect(Object.keys(variablesOf(name)).toSorted()).toEqual(variablesNamedIn(codeOf(name)).toSorted());
  });

  test('has only variables of the common list, none of them empty', () => {
    for (const [variable, value] of Object.entries(variablesOf(name))) {
      expect(environmentNames()).toContain(variable);
      expect(value).not.toBe('');
    }
  });
});

test('the functions of a capability share a log group, and no others do: one that parses what strangers send has its own', () => {
  const groups = Map.groupBy(NAMES, (name) => render(functionNamed(name).properties.LoggingConfig.LogGroup));

  const task = (name: string) => `workflow/${name}`;
  expect(Object.fromEntries(groups)).toEqual({
    ApiLogs: NAMES.filter((name) => name.startsWith('api/')),
    CanaryLogs: ['events/run-canary'],
    ClipMeasuringLogs: ['media/measure-clips'],
    DeliveryLogs: ['events/create-signing-key'],
    ExecutionStopperLogs: ['events/stop-executions'],
    ExpiryWorkflowLogs: ['expire-requests', 'list-expired-requests'].map(task),
    GenerationWorkflowLogs: [
      ...['await-capacity', 'await-provider', 'dispatch-request', 'fail-request'],
      ...['query-provider', 'settle-request', 'store-outputs'],
    ].map(task),
    LedgerVerificationWorkflowLogs: ['list-ledgers', 'verify-ledgers'].map(task),
    PublicPagesLogs: ['events/publish-pages'],
    ReconcilerLogs: ['events/reconcile', 'events/reconcile-lost'],
    WebhookWorkflowLogs: ['workflow/deliver-webhook'],
  });
});

test('functions that spool videos have disks for them: five clips of 100 MiB, and one output of 2 GiB', () => {
  const disks = NAMES.flatMap((name) => {
    const disk = functionNamed(name).properties.EphemeralStorage;
    return disk === undefined ? [] : [[name, disk]];
  });

  expect(disks).toEqual([
    ['media/measure-clips', { Size: 1024 }],
    ['workflow/store-outputs', { Size: 2560 }],
  ]);
});

test('the functions that wait for images have little memory: they cost by it as long as they wait', () => {
  const memory = (name: string) => functionNamed(name).properties.MemorySize;

  expect(['api/create-openai-image', 'api/edit-openai-image'].map(memory)).toEqual([256, 256]);
});

describe('reserved concurrency', () => {
  const reserved = ({ functions }: ServiceTemplate) =>
    Object.entries(functions).flatMap(([name, { properties }]) =>
      properties.ReservedConcurrentExecutions === undefined
        ? []
        : [[name, properties.ReservedConcurrentExecutions]],
    );

  test('is off by default: an account with a quota of 10 can reserve none, and its deployment would fail', () => {
    expect(reserved(service)).toEqual([]);
  });

  test('caps the functions that wait for servers of others, so that they leave the API its share, and is kept for those that requests need', async () => {
    expect(Object.fromEntries(reserved(await synthesizeService(PRODUCTION)))).toEqual({
      'workflow/deliver-webhook': 50,
      'workflow/dispatch-request': 200,
      'media/measure-clips': 20,
      'api/create-openai-image': 100,
      'api/edit-openai-image': 30,
      'events/reconcile': 2,
      'workflow/settle-request': 20,
      'workflow/fail-request': 10,
    });
  });
});

/** Read by the operators' command line alone. */
const OPERATORS_ONLY = ['VERIFY_LEDGERS_STATE_MACHINE_ARN'];

describe('the value of a variable', () => {
  test.each([
    ['api/create-generation', 'TABLE_NAME', 'DataStoreTable'],
    ['api/create-generation', 'GENERATION_STATE_MACHINE_ARN', 'GenerationWorkflowMachineStateMachine'],
    ['events/reconcile', 'EXPIRY_STATE_MACHINE_ARN', 'ExpiryWorkflowMachineStateMachine'],
    ['workflow/settle-request', 'WEBHOOK_DELIVERY_STATE_MACHINE_ARN', 'WebhookWorkflowMachineStateMachine'],
    ['api/receive-callback', 'CALLBACK_SECRET_ARN', 'ProviderSecretsCallbacks'],
    ['workflow/expire-requests', 'BUCKET_NAME', 'DataStoreOutputs'],
    ...PROVIDER_IDS.map(
      (id) =>
        [
          'api/create-generation',
          namesOfProvider(id).secretVariable,
          `ProviderSecrets${PROVIDERS[id].label}`,
        ] as const,
    ),
    ['api/get-generation', 'FILE_DELIVERY_BASE_URL', 'https://DeliveryDistribution.DomainName'],
    ['api/get-generation', 'FILE_DELIVERY_KEY_PAIR_ID', 'DeliveryPublicKey'],
    ['api/get-generation', 'FILE_DELIVERY_KEY_SECRET_ARN', 'DeliverySigningKey'],
  ])('%s: %s is %s', (name, variable, expected) => {
    expect(render(variablesOf(name)[variable])).toBe(expected);
  });

  test('is the same in every function', () => {
    for (const variable of environmentNames()) {
      const values = NAMES.flatMap((name) => JSON.stringify(variablesOf(name)[variable]) ?? []);

      expect([variable, new Set(values).size]).toEqual([variable, OPERATORS_ONLY.includes(variable) ? 0 : 1]);
    }
  });
});
