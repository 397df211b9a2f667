import { beforeAll, describe, expect, test } from '@jest/globals';
import { PUBLIC_PAGES } from '../../core/files/pages.ts';
import { KEPT } from '../permissions/kept.ts';
import { actionsCalledIn, codeOf } from './function-code.ts';
import {
  EVERYTHING_CONFIGURED,
  ofType,
  onlyOne,
  render,
  type ServiceTemplate,
  synthesizeService,
} from './service-template.ts';

const TABLE = 'DataStoreTable.Arn';
const GUARDRAIL = `arn:AWS::Partition:bedrock:AWS::Region:AWS::AccountId:guardrail/${EVERYTHING_CONFIGURED.guardrailId}`;
const index = (name: string): string => `${TABLE}/index/${name}`;
/** The table's items with these partition keys. */
const itemsOf = (...prefixes: string[]): string => `${TABLE} of ${prefixes.join(', ')}`;
const BUCKET = 'DataStoreOutputs.Arn';
const OUTPUTS = `${BUCKET}/outputs/*`;
const CLIPS = `${BUCKET}/clips/*`;
const FILES = `${CLIPS} ${OUTPUTS}`;
const PROVIDER_KEYS = 'ProviderSecretsModelArk ProviderSecretsModelStudio';
const CALLBACK_SECRET = 'ProviderSecretsCallbacks';
const SIGNING_KEY = 'DeliverySigningKey';
const GENERATION = 'GenerationWorkflowMachineStateMachine';
const EXPIRY = 'ExpiryWorkflowMachineStateMachine';
const WEBHOOKS = 'WebhookWorkflowMachineStateMachine';
const VERIFICATION = 'LedgerVerificationWorkflowMachineStateMachine';
const executionsOf = (machine: string): string =>
  `arn:AWS::Partition:states:AWS::Region:AWS::AccountId:execution:${machine}.Name:*`;
const GENERATIONS_RUN = executionsOf(GENERATION);
const ALL_RUN = [EXPIRY, GENERATION, VERIFICATION, WEBHOOKS].map(executionsOf).join(' ');
/** Those of the items of its Map, which Step Functions alone starts. */
const BATCHES_RUN = executionsOf(VERIFICATION).replace('.Name:', '.Name/VerifyBatch:');

const onTable = (...operations: string[]): string =>
  operations.map((operation) => `dynamodb:${operation}`).join(' ');
/** Partitions of the table, as `core/table/keys.ts` builds their keys. */
const [ACCOUNTS, END_USERS, IDEMPOTENCY, KEYS, LEDGERS, REQUESTS, CATALOG] = [
  'ACCOUNT#*',
  'USERS#*',
  'IDEMPOTENCY#*',
  'KEY#*',
  'LEDGER#*',
  'REQUEST#*',
  'CATALOG#*',
];
/** The listing index's partitions of a kind, and those of an index of requests. */
const listOf = (partition: string): string => `${index('GSI1')} of ${partition}`;
const requestsIn = (...names: string[]): string => `${names.map(index).join(' ')} of acc_*`;

const READS_ACCOUNT = { [itemsOf(ACCOUNTS)]: onTable('GetItem') };
const COUNTS_CALL = { [itemsOf(KEYS)]: onTable('UpdateItem') };
/** What a list holds of requests and end-users is counted once, and void when it changes. */
const KEEPS_COUNTS = { [itemsOf('COUNTS#*')]: onTable('BatchWriteItem', 'Query') };
const NOTES_CHANGE = { [itemsOf('COUNTS#*')]: onTable('UpdateItem') };
const CREATE = {
  [itemsOf(ACCOUNTS, END_USERS, IDEMPOTENCY, REQUESTS, CATALOG)]: onTable('BatchGetItem', 'GetItem'),
  [itemsOf(ACCOUNTS, END_USERS, IDEMPOTENCY, REQUESTS, LEDGERS)]: onTable('PutItem', 'UpdateItem'),
  [PROVIDER_KEYS]: 'secretsmanager:DescribeSecret',
  [GENERATION]: 'states:StartExecution',
  [GUARDRAIL]: 'bedrock:ApplyGuardrail',
};
const REMOVE_FILES = { [FILES]: 's3:DeleteObject', [BUCKET]: 's3:ListBucket' };
const PAGES = PUBLIC_PAGES.map(({ key }) => `${BUCKET}/${key}`)
  .toSorted()
  .join(' ');
const DELETES = onTable('BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem');
const READS_TO_DELETE = { [itemsOf(ACCOUNTS, REQUESTS, LEDGERS)]: onTable('GetItem', 'Query') };
const DELETE = {
  ...READS_TO_DELETE,
  ...COUNTS_CALL,
  [itemsOf(REQUESTS, LEDGERS)]: DELETES,
  ...NOTES_CHANGE,
  ...REMOVE_FILES,
};
const BLOCK = {
  ...READS_ACCOUNT,
  [itemsOf(KEYS, END_USERS)]: onTable('UpdateItem'),
  ...NOTES_CHANGE,
};
/** Reads and writes of the same partitions have the same resource here, and are told apart by their actions. */
const TASK = 'dynamodb:GetItem dynamodb:Query dynamodb:UpdateItem';
const END = {
  [itemsOf(REQUESTS, ACCOUNTS)]: onTable('GetItem', 'Query'),
  [itemsOf(REQUESTS, ACCOUNTS, END_USERS, LEDGERS)]: onTable('PutItem', 'UpdateItem'),
};
/** The function that parses what strangers' servers send for a creation. */
const MEASURE_CLIPS = 'ClipMeasuringMeasureClipsFunction.Arn';
const WAKE = 'states:SendTaskHeartbeat states:SendTaskSuccess';
/** Gives a permit of a provider's route back, and lets the next request in. */
const ADMIT = { [itemsOf('GATE#*')]: onTable('DeleteItem', 'GetItem', 'Query', 'UpdateItem') };
const LET_IN = { ...ADMIT, [GENERATION]: 'states:SendTaskSuccess' };

/** What each function may do besides writing logs: actions by resource. */
const PERMISSIONS: Record<string, Record<string, string>> = {
  'api/create-generation': {
    ...CREATE,
    [itemsOf(KEYS, 'IN_FLIGHT#filter#*')]: onTable('UpdateItem'),
  },
  'api/create-video': {
    ...CREATE,
    [itemsOf(KEYS, 'IN_FLIGHT#filter#*', 'IN_FLIGHT#clips#*')]: onTable('UpdateItem'),
    [MEASURE_CLIPS]: 'lambda:InvokeFunction',
  },
  'api/list-generations': {
    [itemsOf(ACCOUNTS, REQUESTS)]: onTable('BatchGetItem', 'GetItem'),
    ...COUNTS_CALL,
    ...KEEPS_COUNTS,
    [requestsIn('GSI2', 'GSI3')]: onTable('Query'),
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue',
  },
  'api/delete-generation': DELETE,
  'api/bulk-delete-generations': DELETE,
  'api/list-end-users': {
    [itemsOf(ACCOUNTS, END_USERS)]: onTable('BatchGetItem', 'GetItem'),
    ...COUNTS_CALL,
    ...KEEPS_COUNTS,
    [listOf('END_USERS#*')]: onTable('Query'),
  },
  'api/delete-end-user': {
    [itemsOf(ACCOUNTS, END_USERS, REQUESTS, LEDGERS)]: onTable('GetItem', 'Query'),
    [itemsOf(END_USERS, REQUESTS, LEDGERS)]: DELETES,
    ...COUNTS_CALL,
    ...NOTES_CHANGE,
    ...REMOVE_FILES,
    [requestsIn('GSI3')]: onTable('Query'),
  },
  'api/block-end-user': BLOCK,
  'api/unblock-end-user': BLOCK,
  'api/get-generation': {
    [itemsOf(ACCOUNTS, REQUESTS)]: onTable('GetItem'),
    ...COUNTS_CALL,
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue',
  },
  'api/get-video': {
    [itemsOf(ACCOUNTS, REQUESTS)]: onTable('GetItem', 'Query'),
    [itemsOf(KEYS, REQUESTS)]: onTable('UpdateItem'),
    [`${SIGNING_KEY} ${PROVIDER_KEYS}`]: 'secretsmanager:GetSecretValue',
    [GENERATION]: WAKE,
  },
  'api/list-models': {
    [itemsOf(ACCOUNTS, CATALOG)]: onTable('GetItem', 'Query'),
    ...COUNTS_CALL,
    [PROVIDER_KEYS]: 'secretsmanager:DescribeSecret',
  },
  'api/get-balance': { ...READS_ACCOUNT, ...COUNTS_CALL },
  'api/list-balance-history': {
    [itemsOf(ACCOUNTS, LEDGERS)]: onTable('GetItem', 'Query'),
    ...COUNTS_CALL,
  },
  // Anyone can call it.
  'api/receive-callback': {
    [itemsOf(REQUESTS)]: TASK,
    [`${CALLBACK_SECRET} ${PROVIDER_KEYS}`]: 'secretsmanager:GetSecretValue',
    [GENERATION]: WAKE,
  },
  'workflow/dispatch-request': {
    [itemsOf(REQUESTS)]: onTable('GetItem', 'PutItem', 'Query', 'UpdateItem'),
    [`${SIGNING_KEY} ${CALLBACK_SECRET} ${PROVIDER_KEYS}`]: 'secretsmanager:GetSecretValue',
    ...LET_IN,
  },
  'workflow/await-capacity': {
    [itemsOf(REQUESTS)]: onTable('GetItem', 'UpdateItem'),
    ...LET_IN,
    [itemsOf('GATE#*')]: onTable('DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'),
  },
  'workflow/await-provider': {
    [itemsOf(REQUESTS)]: TASK,
    [PROVIDER_KEYS]: 'secretsmanager:GetSecretValue',
    [GENERATION]: WAKE,
  },
  'workflow/query-provider': {
    [itemsOf(REQUESTS)]: TASK,
    [PROVIDER_KEYS]: 'secretsmanager:GetSecretValue',
  },
  // It parses what providers' URLs serve.
  'workflow/store-outputs': {
    [itemsOf(REQUESTS)]: TASK,
    [OUTPUTS]: 's3:AbortMultipartUpload s3:DeleteObject s3:GetObject s3:PutObject',
    [CLIPS]: 's3:DeleteObject',
    ...LET_IN,
  },
  'workflow/settle-request': { ...END, [WEBHOOKS]: 'states:StartExecution' },
  'workflow/fail-request': { ...END, ...REMOVE_FILES, ...LET_IN, [WEBHOOKS]: 'states:StartExecution' },
  'workflow/list-expired-requests': { [listOf('DUE#EXPIRE#*')]: onTable('Query') },
  'workflow/expire-requests': {
    [itemsOf(REQUESTS)]: onTable('GetItem', 'UpdateItem'),
    [FILES]: 's3:DeleteObject',
  },
  // It parses what callers' URLs serve.
  'media/measure-clips': { [CLIPS]: 's3:AbortMultipartUpload s3:DeleteObject s3:PutObject' },
  // It calls URLs that callers chose.
  'workflow/deliver-webhook': {
    [itemsOf(REQUESTS, ACCOUNTS, 'WEBHOOK_HOST#*')]: onTable('GetItem', 'Query'),
    [itemsOf(REQUESTS)]: onTable('PutItem'),
    [itemsOf('WEBHOOK_HOST#*', 'IN_FLIGHT#webhooks#*')]: onTable('UpdateItem'),
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue',
  },
  'events/reconcile': {
    [itemsOf(REQUESTS, ACCOUNTS, END_USERS, LEDGERS)]: onTable(
      'BatchGetItem',
      'BatchWriteItem',
      'DeleteItem',
      'GetItem',
      'PutItem',
      'Query',
      'UpdateItem',
    ),
    ...NOTES_CHANGE,
    ...ADMIT,
    [listOf('DUE#*')]: onTable('Query'),
    [listOf('GATES')]: onTable('Query'),
    [requestsIn('GSI3')]: onTable('Query'),
    ...REMOVE_FILES,
    [PROVIDER_KEYS]: 'secretsmanager:GetSecretValue',
    [`${EXPIRY} ${GENERATION} ${WEBHOOKS}`]: 'states:StartExecution',
    [GENERATION]: WAKE,
    [GENERATIONS_RUN]: 'states:DescribeExecution',
  },
  'events/reconcile-lost': {
    ...END,
    ...REMOVE_FILES,
    ...LET_IN,
    [WEBHOOKS]: 'states:StartExecution',
    [GENERATIONS_RUN]: 'states:DescribeExecution',
  },
  'workflow/verify-ledgers': {
    [itemsOf(ACCOUNTS, REQUESTS, LEDGERS, 'CHECKPOINT#*')]: onTable('BatchGetItem', 'GetItem', 'Query'),
    [itemsOf('CHECKPOINT#*')]: onTable('PutItem'),
    [requestsIn('GSI2')]: onTable('Query'),
  },
  'workflow/list-ledgers': { [listOf('ACCOUNTS')]: onTable('Query') },
  'events/stop-executions': {
    [`${EXPIRY} ${GENERATION} ${VERIFICATION} ${WEBHOOKS}`]: 'states:ListExecutions',
    [ALL_RUN]: 'states:StopExecution',
  },
  'events/publish-pages': { [PAGES]: 's3:PutObject' },
  'events/create-signing-key': {
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue secretsmanager:PutSecretValue',
  },
};
const NAMES = Object.keys(PERMISSIONS);

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, Record<string, string[]>>;
}

let service: ServiceTemplate;
beforeAll(async () => {
  service = await synthesizeService(EVERYTHING_CONFIGURED);
});

const list = <T>(oneOrMore: T | T[]): T[] => (Array.isArray(oneOrMore) ? oneOrMore : [oneOrMore]);

const roleOf = (name: string): string => {
  const found = service.functions[name];
  if (!found) throw new Error(`There is no function ${name}.`);
  return found.properties.Role['Fn::GetAtt'][0];
};

const statements = (inPolicy: (roles: { Ref: string }[]) => boolean = () => true): Statement[] =>
  ofType(service.resources, 'AWS::IAM::Policy')
    .filter(([, { Properties }]) => inPolicy(Properties.Roles))
    .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement);

/** The resources of a statement, in the format of `PERMISSIONS`. */
const resourcesOf = ({ Resource, Condition }: Statement): string => {
  const resources = list(Resource).map(render).toSorted().join(' ');
  const items = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'];
  return items ? `${resources} of ${items.join(', ')}` : resources;
};

const isLogging = ({ Action }: Statement): boolean =>
  list(Action).some((action) => action.startsWith('logs:'));
const allStatementsOf = (name: string): Statement[] =>
  statements((roles) => roles.some(({ Ref }) => Ref === roleOf(name)));
/** What a function may do besides writing its log. */
const statementsOf = (name: string): Statement[] =>
  allStatementsOf(name).filter((statement) => !isLogging(statement));

/** The resources on which a function has any action that writes to the table. */
const resourcesWrittenBy = (name: string): string =>
  statementsOf(name)
    .filter(({ Action }) =>
      list(Action).some((action) => /^dynamodb:.*(Write|Put|Update|Delete)/.test(action)),
    )
    .map(resourcesOf)
    .join(' ');

describe.each(NAMES)('%s', (name) => {
  test('has exactly these permissions', () => {
    const granted = statementsOf(name).map((statement) => [
      resourcesOf(statement),
      list(statement.Action).toSorted().join(' '),
    ]);

    expect(granted).toHaveLength(Object.keys(PERMISSIONS[name] ?? {}).length);
    expect(Object.fromEntries(granted)).toEqual(PERMISSIONS[name]);
  });

  test('has the permissions that its code uses, and no more', () => {
    const granted = statementsOf(name).flatMap(({ Action }) => Action);

    expect([...new Set(granted)].toSorted()).toEqual(actionsCalledIn(codeOf(name)).toSorted());
  });

  test('may write its own log, and no other', () => {
    const { LogGroup } = service.functions[name]?.properties.LoggingConfig ?? {};

    expect(allStatementsOf(name).filter(isLogging)).toEqual([
      {
        Effect: 'Allow',
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: { 'Fn::GetAtt': [LogGroup.Ref, 'Arn'] },
      },
    ]);
  });

  test('has its own role, for Lambda only, without a managed policy', () => {
    const owners = NAMES.filter((other) => roleOf(other) === roleOf(name));
    const role = service.resources[roleOf(name)]?.Properties ?? {};

    expect(owners).toEqual([name]);
    expect(role.AssumeRolePolicyDocument.Statement).toEqual([
      { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'lambda.amazonaws.com' } },
    ]);
    expect(role.ManagedPolicyArns).toBeUndefined();
    expect(role.Policies).toBeUndefined();
  });
});

test('each permission that is kept though no contract test needs it is granted', () => {
  const granted = NAMES.flatMap((name) =>
    statementsOf(name).flatMap(({ Action }) =>
      list(Action).map((action) => `${render({ Ref: service.functions[name]?.logicalId })} ${action}`),
    ),
  );

  for (const { of, actions } of KEPT) {
    expect(granted).toEqual(expect.arrayContaining(actions.map((action) => `${of} ${action}`)));
  }
});

describe('of the table', () => {
  const onTheTable = (name: string) =>
    statementsOf(name).filter(({ Action }) => list(Action).some((action) => action.startsWith('dynamodb:')));

  test('no role reaches items but by the partitions that it needs', () => {
    for (const statement of NAMES.flatMap(onTheTable)) {
      expect(statement.Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys']).not.toContain('*');
      expect(resourcesOf(statement)).toContain(' of ');
    }
  });

  test('API keys are put and deleted by no role, only updated, which counts a call', () => {
    const onKeys = NAMES.flatMap(onTheTable).filter((statement) => resourcesOf(statement).includes('KEY#'));

    expect(onKeys.length).toBeGreaterThan(10);
    for (const { Action } of onKeys) expect(list(Action)).toEqual(['dynamodb:UpdateItem']);
  });

  test.each([
    'api/receive-callback',
    'workflow/dispatch-request',
    'workflow/await-provider',
    'workflow/query-provider',
    'workflow/store-outputs',
    'workflow/expire-requests',
    'workflow/deliver-webhook',
  ])(
    '%s, which anyone can call or which reads what strangers send, writes no account, key or ledger',
    (name) => {
      const writing = onTheTable(name).filter(({ Action }) => /Write|Put|Update|Delete/.test(String(Action)));

      expect(writing).not.toEqual([]);
      for (const statement of writing)
        expect(resourcesOf(statement)).not.toMatch(/ACCOUNT|KEY#|LEDGER|CATALOG/);
    },
  );
});

describe('what strangers send', () => {
  /** Functions whose own code has one of these modules: a bundle names each before its code. */
  const withModule = (pattern: RegExp): string[] =>
    NAMES.filter((name) => pattern.test(codeOf(name))).toSorted();

  test('is parsed as media only by functions that write no account, key or ledger', () => {
    const parsers = withModule(/^\/\/ core\/media\/(measure-|isobmff|matroska)/m);

    expect(parsers).toEqual(['media/measure-clips', 'workflow/store-outputs']);
    for (const name of parsers) expect(resourcesWrittenBy(name)).not.toMatch(/ACCOUNT|KEY#|LEDGER|CATALOG/);
  });

  test('is fetched from their servers only by functions that write no account, key or ledger', () => {
    const callers = withModule(/^\/\/ core\/outbound\/guarded-http\.ts$/m);

    expect(callers).toEqual(['media/measure-clips', 'workflow/deliver-webhook', 'workflow/store-outputs']);
    for (const name of callers) expect(resourcesWrittenBy(name)).not.toMatch(/ACCOUNT|KEY#|LEDGER|CATALOG/);
  });
});

describe('no policy of the stack', () => {
  test('allows a scan of the table, or a wildcard action', () => {
    const actions = statements().flatMap(({ Action }) => Action);

    expect(actions).not.toContain('dynamodb:Scan');
    expect(actions.filter((action) => action.includes('*'))).toEqual([]);
  });

  test('has wildcard resources, except files under their prefix and executions of a state machine', () => {
    const resources = statements().flatMap(({ Resource }) => list(Resource).map(render));

    expect(new Set(resources.filter((resource) => resource.includes('*')))).toEqual(
      new Set([OUTPUTS, CLIPS, ...ALL_RUN.split(' '), BATCHES_RUN]),
    );
  });

  test('denies, or has conditions other than on items: the list above is complete', () => {
    for (const { Effect, Condition = {} } of statements()) {
      expect(Effect).toBe('Allow');
      for (const [operator, keys] of Object.entries(Condition)) {
        expect([operator, ...Object.keys(keys)]).toEqual(['ForAllValues:StringLike', 'dynamodb:LeadingKeys']);
      }
    }
  });

  test('belongs to anything but the functions and the state machines', () => {
    const roles = ofType(service.resources, 'AWS::IAM::Role').map(([logicalId]) => logicalId);
    const machines = ofType(service.resources, 'AWS::StepFunctions::StateMachine').map(
      ([, { Properties }]) => Properties.RoleArn['Fn::GetAtt'][0],
    );

    // The gateway's own, with which it writes access logs.
    const { CloudWatchRoleArn } = onlyOne(service.resources, 'AWS::ApiGateway::Account').Properties;
    const gateway = CloudWatchRoleArn['Fn::GetAtt'][0];

    // That of the rules that start an execution.
    const events = ofType(service.resources, 'AWS::Events::Rule').flatMap(
      ([, { Properties }]) => Properties.Targets[0].RoleArn?.['Fn::GetAtt'][0] ?? [],
    );

    expect(roles.toSorted()).toEqual(
      [...new Set([...NAMES.map(roleOf), ...machines, ...events, gateway])].toSorted(),
    );
    expect(service.resources[gateway]?.Properties.ManagedPolicyArns.map(render)).toEqual([
      'arn:AWS::Partition:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs',
    ]);
    expect(ofType(service.resources, 'AWS::IAM::ManagedPolicy')).toEqual([]);
    expect(ofType(service.resources, 'AWS::IAM::User')).toEqual([]);
  });
});
