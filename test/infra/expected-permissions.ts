import { PUBLIC_PAGES } from '../../core/files/pages.ts';
import { PROVIDERS } from '../../core/provider-names.ts';
import { EVERYTHING_CONFIGURED } from './service-template.ts';

const TABLE = 'DataStoreTable.Arn';
const GUARDRAIL = `arn:AWS::Partition:bedrock:AWS::Region:AWS::AccountId:guardrail/${EVERYTHING_CONFIGURED.guardrailId}`;
const index = (name: string): string => `${TABLE}/index/${name}`;
/** The table's items with these partition keys. */
const itemsOf = (...prefixes: string[]): string => `${TABLE} of ${prefixes.join(', ')}`;
const BUCKET = 'DataStoreOutputs.Arn';
export const OUTPUTS = `${BUCKET}/outputs/*`;
export const CLIPS = `${BUCKET}/clips/*`;
export const UPLOADS = `${BUCKET}/uploads/*`;
const FILES = `${CLIPS} ${OUTPUTS}`;
const PROVIDER_KEYS = Object.values(PROVIDERS)
  .map(({ label }) => `ProviderSecrets${label}`)
  .sort()
  .join(' ');
const CALLBACK_SECRET = 'ProviderSecretsCallbacks';
const SIGNING_KEY = 'DeliverySigningKey';
const GENERATION = 'GenerationWorkflowMachineStateMachine';
const EXPIRY = 'ExpiryWorkflowMachineStateMachine';
const WEBHOOKS = 'WebhookWorkflowMachineStateMachine';
const VERIFICATION = 'LedgerVerificationWorkflowMachineStateMachine';
const executionsOf = (machine: string): string =>
  `arn:AWS::Partition:states:AWS::Region:AWS::AccountId:execution:${machine}.Name:*`;
const GENERATIONS_RUN = executionsOf(GENERATION);
export const ALL_RUN = [EXPIRY, GENERATION, VERIFICATION, WEBHOOKS].map(executionsOf).join(' ');
/** Those of the items of its Map, which Step Functions alone starts. */
export const BATCHES_RUN = executionsOf(VERIFICATION).replace('.Name:', '.Name/VerifyBatch:');

const onTable = (...operations: string[]): string =>
  operations.map((operation) => `dynamodb:${operation}`).join(' ');
/** Partitions of the table, as `core/table/keys.ts` builds their keys. */
const [ACCOUNTS, END_USERS, IDEMPOTENCY, KEYS, LEDGERS, REQUESTS, DELETED, WEBHOOK_ATTEMPTS, CATALOG] = [
  'ACCOUNT#*',
  'USERS#*',
  'IDEMPOTENCY#*',
  'KEY#*',
  'LEDGER#*',
  'REQUEST#*',
  'DELETED#*',
  'WEBHOOK_ATTEMPTS#*',
  'CATALOG',
];
/** These items, and writes that name no attributes but these and the primary key. */
const naming = (items: string, ...attributes: string[]): string =>
  `${items} naming ${['PK', 'SK', ...attributes].toSorted().join(' ')}`;
/** The listing index's partitions of a kind, and those of an index of requests. */
const listOf = (partition: string): string => `${index('GSI1')} of ${partition}`;
const requestsIn = (...names: string[]): string => `${names.map(index).join(' ')} of acc_*`;

const READS_ACCOUNT = { [itemsOf(ACCOUNTS)]: onTable('GetItem') };
const COUNTS_CALL = {
  [naming(itemsOf(KEYS), 'tat', 'allowAt', 'intervalMs', 'spareMs', 'lastUsedAt')]: onTable('UpdateItem'),
};
const LISTING = ['GSI1PK', 'GSI1SK'];
/** The progress of a request, its attempts and its wait: not its owner, price or receiver. */
const PROGRESS = naming(
  itemsOf(REQUESTS),
  ...[
    'status',
    'dispatchedAt',
    'assignment',
    'formerRoutes',
    'permitReleased',
    'outputs',
    'storedSoFar',
    'storingSince',
    ...LISTING,
    'ttl',
  ],
  ...['requestId', 'call', 'attempt', 'provider', 'upstreamModel', 'baseUrl', 'startedAt', 'aliveAt'],
  ...['suspectedAt', 'refusedAt', 'finishedAt', 'taskId', 'outcome', 'cancellation', 'claimId'],
  ...['passedOver'],
  ...['taskToken', 'tokenOrder', 'waitingSince', 'queriedAt', 'calledBackAt', 'callbackQueryAt'],
  ...['callbackQueryIsPlanned', 'notBefore'],
);
const DELETION = naming(
  itemsOf(REQUESTS, WEBHOOK_ATTEMPTS, DELETED),
  ...[
    'status',
    'accountId',
    'requestId',
    'deletedAt',
    'accounted',
    'deletionId',
    'model',
    'files',
    'routes',
    ...LISTING,
    'ttl',
  ],
);
/** The function that parses what strangers' servers and callers send for a creation. */
const MEASURE_CLIPS = 'ClipMeasuringMeasureClipsFunction.Arn';
const MOVES_MONEY = [REQUESTS, ACCOUNTS, END_USERS, LEDGERS, WEBHOOK_ATTEMPTS];
const DELIVER_WEBHOOK = 'WebhookWorkflowDeliverWebhookFunction.Arn';
const CREATE = {
  ...COUNTS_CALL,
  [itemsOf(ACCOUNTS, END_USERS, IDEMPOTENCY, REQUESTS)]: onTable('BatchGetItem', 'GetItem'),
  [itemsOf(CATALOG)]: onTable('Query'),
  [itemsOf(...MOVES_MONEY, IDEMPOTENCY)]: onTable('PutItem', 'UpdateItem'),
  [PROVIDER_KEYS]: 'secretsmanager:DescribeSecret',
  [GENERATION]: 'states:StartExecution',
  [GUARDRAIL]: 'bedrock:ApplyGuardrail',
  [`${MEASURE_CLIPS} ${DELIVER_WEBHOOK}`]: 'lambda:InvokeFunction',
  '*': 'lambda:GetAccountSettings',
  [SIGNING_KEY]: 'secretsmanager:GetSecretValue',
  [itemsOf('IN_FLIGHT#filter#*', 'IN_FLIGHT#clips#*')]: onTable('UpdateItem'),
};
const {
  [itemsOf(CATALOG)]: _,
  [itemsOf('IN_FLIGHT#filter#*', 'IN_FLIGHT#clips#*')]: __,
  ...CREATE_WITHOUT_QUERIES
} = CREATE;
/** Its retries are found by a query, its images read by signed URLs. */
const CREATE_FOR_OPENAI = {
  ...CREATE_WITHOUT_QUERIES,
  [itemsOf(CATALOG, IDEMPOTENCY)]: onTable('Query'),
  [itemsOf(IDEMPOTENCY)]: onTable('DeleteItem'),
  [itemsOf('IN_FLIGHT#filter#*', 'IN_FLIGHT#clips#*', 'IN_FLIGHT#openai#*')]: onTable('UpdateItem'),
};
const REMOVE_FILES = { [FILES]: 's3:DeleteObject', [BUCKET]: 's3:ListBucket' };
/** Uploads go with the requests that named them. */
const DELETE_FILES = { [`${FILES} ${UPLOADS}`]: 's3:DeleteObject', [BUCKET]: 's3:ListBucket' };
const PAGES = PUBLIC_PAGES.map(({ key }) => `${BUCKET}/${key}`)
  .toSorted()
  .join(' ');
const REMOVES_REQUEST = {
  [DELETION]: onTable('BatchWriteItem', 'DeleteItem', 'PutItem'),
  [itemsOf(DELETED)]: onTable('UpdateItem'),
  ...DELETE_FILES,
};
const REMOVES_END_USER = {
  [itemsOf(END_USERS)]: onTable('BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem'),
};
const READ_TO_DELETE = [ACCOUNTS, REQUESTS, WEBHOOK_ATTEMPTS, DELETED];
const DELETE = {
  [itemsOf(...READ_TO_DELETE)]: onTable('GetItem', 'Query'),
  ...COUNTS_CALL,
  ...REMOVES_REQUEST,
};
/** One function has all routes of videos for OpenAI's clients. */
const {
  [itemsOf(CATALOG)]: ___,
  [itemsOf('IN_FLIGHT#filter#*', 'IN_FLIGHT#clips#*')]: ____,
  [itemsOf(ACCOUNTS, END_USERS, IDEMPOTENCY, REQUESTS)]: _____,
  ...CREATE_WITHOUT_READS
} = CREATE;
const CREATE_AND_REMOVE_FOR_OPENAI = {
  ...CREATE_WITHOUT_READS,
  [itemsOf(ACCOUNTS, END_USERS, IDEMPOTENCY, REQUESTS, WEBHOOK_ATTEMPTS, DELETED)]: onTable(
    'BatchGetItem',
    'GetItem',
    'Query',
  ),
  [itemsOf(CATALOG, IDEMPOTENCY)]: onTable('Query'),
  [itemsOf(IDEMPOTENCY)]: onTable('DeleteItem'),
  [itemsOf('IN_FLIGHT#filter#*', 'IN_FLIGHT#clips#*', DELETED)]: onTable('UpdateItem'),
  [DELETION]: onTable('BatchWriteItem', 'DeleteItem', 'PutItem'),
  [UPLOADS]: 's3:DeleteObject s3:PutObject',
  [FILES]: 's3:DeleteObject',
  [BUCKET]: 's3:ListBucket',
  [requestsIn('GSI2', 'GSI3')]: onTable('Query'),
};
const BLOCK = {
  ...READS_ACCOUNT,
  ...COUNTS_CALL,
  [naming(itemsOf(END_USERS), 'blockedAt')]: onTable('UpdateItem'),
};
const BUDGET = {
  [itemsOf(ACCOUNTS, END_USERS, REQUESTS)]: onTable('BatchGetItem', 'GetItem'),
  [itemsOf(LEDGERS)]: onTable('Query'),
  [itemsOf('IN_FLIGHT#usage#*')]: onTable('UpdateItem'),
  ...COUNTS_CALL,
  [requestsIn('GSI3')]: onTable('Query'),
};
const READS_REQUESTS = { [itemsOf(REQUESTS)]: onTable('GetItem', 'Query') };
const TASK = { ...READS_REQUESTS, [PROGRESS]: onTable('UpdateItem') };
const END = {
  [itemsOf(REQUESTS, ACCOUNTS)]: onTable('GetItem', 'Query'),
  [itemsOf(...MOVES_MONEY)]: onTable('PutItem', 'UpdateItem'),
};
const WAKE = 'states:SendTaskSuccess';
/** Takes a request out of its queue, and gives its permit of a provider's route back. */
const LEAVE = { [itemsOf('LIMIT#*')]: onTable('DeleteItem', 'UpdateItem') };
/** Reports how calls and tasks of routes ended. */
const ROUTE_STATES = { [itemsOf('ROUTE#*')]: onTable('BatchGetItem', 'UpdateItem') };
const RUN = 'RECONCILER';
/** Starts a run of the reconciler if none is alive. */
const START_RUN = {
  [itemsOf(RUN)]: onTable('UpdateItem'),
  'ReconcilerReconcileFunction.Arn': 'lambda:InvokeFunction',
};

/** Lists requests, and signs the URLs of their files. */
const LIST_REQUESTS = {
  [itemsOf(ACCOUNTS, REQUESTS)]: onTable('BatchGetItem', 'GetItem'),
  ...COUNTS_CALL,
  [requestsIn('GSI2', 'GSI3')]: onTable('Query'),
  [SIGNING_KEY]: 'secretsmanager:GetSecretValue',
};

const LIST_MODELS = {
  ...READS_ACCOUNT,
  [itemsOf(CATALOG)]: onTable('Query'),
  ...COUNTS_CALL,
  [PROVIDER_KEYS]: 'secretsmanager:DescribeSecret',
};

/** What each function may do besides writing logs: actions by resource. */
export const PERMISSIONS: Record<string, Record<string, string>> = {
  'api/create-generation': CREATE,
  'api/create-openai-image': CREATE_FOR_OPENAI,
  'api/edit-openai-image': { ...CREATE_FOR_OPENAI, [UPLOADS]: 's3:DeleteObject s3:PutObject' },
  'api/create-video': CREATE,
  'api/create-quote': {
    ...COUNTS_CALL,
    [itemsOf(ACCOUNTS, END_USERS, REQUESTS)]: onTable('BatchGetItem', 'GetItem'),
    [itemsOf(CATALOG)]: onTable('Query'),
    [itemsOf('IN_FLIGHT#filter#*', 'IN_FLIGHT#clips#*')]: onTable('UpdateItem'),
    [PROVIDER_KEYS]: 'secretsmanager:DescribeSecret',
    [GUARDRAIL]: 'bedrock:ApplyGuardrail',
    [MEASURE_CLIPS]: 'lambda:InvokeFunction',
    '*': 'lambda:GetAccountSettings',
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue',
  },
  'api/openai-videos': CREATE_AND_REMOVE_FOR_OPENAI,
  'api/list-generations': LIST_REQUESTS,
  'api/list-videos': LIST_REQUESTS,
  'api/delete-generation': DELETE,
  'api/bulk-delete-generations': DELETE,
  'api/list-end-users': {
    [itemsOf(ACCOUNTS, END_USERS)]: onTable('BatchGetItem', 'GetItem'),
    ...COUNTS_CALL,
    [listOf('END_USERS#*')]: onTable('Query'),
  },
  'api/delete-end-user': {
    [itemsOf(...READ_TO_DELETE, END_USERS)]: onTable('GetItem', 'Query'),
    ...COUNTS_CALL,
    ...REMOVES_REQUEST,
    ...REMOVES_END_USER,
    [requestsIn('GSI3')]: onTable('Query'),
  },
  'api/block-end-user': BLOCK,
  'api/unblock-end-user': BLOCK,
  'api/get-end-user-budget': BUDGET,
  'api/put-end-user-budget': {
    ...BUDGET,
    [naming(
      itemsOf(END_USERS),
      ...['budget', 'budgetSince', 'endUserId', 'totalRequests', 'spentThousandths', 'ttl'],
    )]: onTable('UpdateItem'),
  },
  'api/get-generation': {
    [itemsOf(ACCOUNTS, REQUESTS)]: onTable('GetItem'),
    ...COUNTS_CALL,
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue',
  },
  'api/get-video': {
    [itemsOf(ACCOUNTS, REQUESTS, RUN)]: onTable('GetItem', 'Query'),
    ...COUNTS_CALL,
    [PROGRESS]: onTable('UpdateItem'),
    [`${SIGNING_KEY} ${PROVIDER_KEYS}`]: 'secretsmanager:GetSecretValue',
    [GENERATION]: WAKE,
  },
  'api/create-upload': {
    ...READS_ACCOUNT,
    ...COUNTS_CALL,
    [itemsOf('IN_FLIGHT#uploads#*')]: onTable('UpdateItem'),
    [UPLOADS]: 's3:PutObject',
  },
  'api/list-models': LIST_MODELS,
  'api/list-openai-models': LIST_MODELS,
  'api/get-openai-model': LIST_MODELS,
  'api/get-balance': { ...READS_ACCOUNT, ...COUNTS_CALL },
  'api/list-balance-history': {
    [itemsOf(ACCOUNTS, LEDGERS)]: onTable('GetItem', 'Query'),
    ...COUNTS_CALL,
  },
  'api/get-usage': {
    [itemsOf(ACCOUNTS, LEDGERS, END_USERS, REQUESTS)]: onTable('BatchGetItem', 'GetItem', 'Query'),
    ...COUNTS_CALL,
    [itemsOf('IN_FLIGHT#usage#*')]: onTable('UpdateItem'),
  },
  // Anyone can call it.
  'api/receive-callback': {
    ...TASK,
    [`${CALLBACK_SECRET} ${PROVIDER_KEYS}`]: 'secretsmanager:GetSecretValue',
    [GENERATION]: WAKE,
  },
  'workflow/dispatch-request': {
    [itemsOf(REQUESTS)]: onTable('Query'),
    [itemsOf(CATALOG)]: onTable('Query'),
    [PROGRESS]: onTable('PutItem', 'UpdateItem'),
    [`${SIGNING_KEY} ${CALLBACK_SECRET} ${PROVIDER_KEYS}`]: 'secretsmanager:GetSecretValue',
    ...LEAVE,
    ...ROUTE_STATES,
  },
  'workflow/await-capacity': {
    [itemsOf(REQUESTS, RUN)]: onTable('GetItem'),
    [PROGRESS]: onTable('UpdateItem'),
    ...START_RUN,
    [itemsOf('LIMIT#*')]: onTable('DeleteItem', 'PutItem', 'UpdateItem'),
    [GENERATION]: WAKE,
  },
  'workflow/await-provider': {
    [itemsOf(REQUESTS, RUN)]: onTable('GetItem', 'Query'),
    [PROGRESS]: onTable('UpdateItem'),
    ...START_RUN,
    [PROVIDER_KEYS]: 'secretsmanager:GetSecretValue',
    [GENERATION]: WAKE,
  },
  'workflow/query-provider': {
    ...TASK,
    [PROVIDER_KEYS]: 'secretsmanager:GetSecretValue',
  },
  // It parses what providers' URLs serve.
  'workflow/store-outputs': {
    ...TASK,
    [OUTPUTS]: 's3:AbortMultipartUpload s3:DeleteObject s3:PutObject',
    [CLIPS]: 's3:DeleteObject',
    [itemsOf('LIMIT#*')]: onTable('UpdateItem'),
    ...ROUTE_STATES,
  },
  'workflow/settle-request': { ...END, ...LEAVE, [DELIVER_WEBHOOK]: 'lambda:InvokeFunction' },
  'workflow/fail-request': {
    ...END,
    ...REMOVE_FILES,
    ...LEAVE,
    ...ROUTE_STATES,
    [DELIVER_WEBHOOK]: 'lambda:InvokeFunction',
  },
  'workflow/list-expired-requests': { [listOf('DUE#EXPIRE#*')]: onTable('Query') },
  'workflow/expire-requests': {
    [itemsOf(REQUESTS)]: onTable('GetItem'),
    [naming(itemsOf(REQUESTS), 'expiresAt', 'expiredAt', 'removalFailures', ...LISTING)]:
      onTable('UpdateItem'),
    [FILES]: 's3:DeleteObject',
  },
  // It parses what callers' URLs serve.
  'media/measure-clips': { [CLIPS]: 's3:AbortMultipartUpload s3:DeleteObject s3:PutObject' },
  // It calls URLs that callers chose.
  'workflow/deliver-webhook': {
    [itemsOf(REQUESTS, ACCOUNTS, 'WEBHOOK_HOST#*', WEBHOOK_ATTEMPTS)]: onTable('GetItem'),
    [itemsOf(WEBHOOK_ATTEMPTS)]: onTable('ConditionCheckItem', 'PutItem', 'UpdateItem'),
    [WEBHOOKS]: 'states:StartExecution',
    [itemsOf('WEBHOOK_HOST#*', 'IN_FLIGHT#webhooks#*')]: onTable('UpdateItem'),
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue',
  },
  'events/reconcile': {
    [itemsOf(REQUESTS, ACCOUNTS, END_USERS, WEBHOOK_ATTEMPTS, DELETED, RUN)]: onTable(
      ...['BatchGetItem', 'GetItem', 'Query'],
    ),
    [itemsOf(...MOVES_MONEY)]: onTable('PutItem', 'UpdateItem'),
    [DELETION]: onTable('BatchWriteItem', 'DeleteItem', 'PutItem'),
    ...DELETE_FILES,
    ...REMOVES_END_USER,
    [itemsOf(RUN, DELETED, WEBHOOK_ATTEMPTS)]: onTable('UpdateItem'),
    [itemsOf('LIMIT#*')]: onTable('BatchGetItem', 'DeleteItem', 'Query', 'UpdateItem'),
    [itemsOf('ROUTE#*')]: onTable('BatchGetItem'),
    [itemsOf(CATALOG)]: onTable('Query'),
    [listOf('DUE#*')]: onTable('Query'),
    [listOf('QUEUES')]: onTable('Query'),
    [requestsIn('GSI3')]: onTable('Query'),
    [`${SIGNING_KEY} ${PROVIDER_KEYS}`]: 'secretsmanager:GetSecretValue',
    [`${EXPIRY} ${GENERATION}`]: 'states:StartExecution',
    [DELIVER_WEBHOOK]: 'lambda:InvokeFunction',
    [GENERATION]: WAKE,
    [GENERATIONS_RUN]: 'states:DescribeExecution',
  },
  'events/reconcile-lost': {
    ...END,
    ...REMOVE_FILES,
    ...LEAVE,
    [WEBHOOKS]: 'states:StartExecution',
    [DELIVER_WEBHOOK]: 'lambda:InvokeFunction',
    [GENERATIONS_RUN]: 'states:DescribeExecution',
  },
  'workflow/verify-ledgers': {
    [itemsOf(ACCOUNTS, REQUESTS, LEDGERS, DELETED)]: onTable('BatchGetItem', 'GetItem', 'Query'),
    [requestsIn('GSI2')]: onTable('Query'),
  },
  'workflow/list-ledgers': { [listOf('ACCOUNTS')]: onTable('Query') },
  'events/stop-executions': {
    [`${EXPIRY} ${GENERATION} ${VERIFICATION} ${WEBHOOKS}`]: 'states:ListExecutions',
    [ALL_RUN]: 'states:StopExecution',
    'AWS::StackId': 'cloudformation:DescribeStacks',
  },
  'events/run-canary': { CanaryApiKey: 'secretsmanager:GetSecretValue' },
  'events/publish-pages': { [PAGES]: 's3:PutObject' },
  'events/create-signing-key': {
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue secretsmanager:PutSecretValue',
  },
};
