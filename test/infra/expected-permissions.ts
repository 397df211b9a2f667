import { PUBLIC_PAGES } from '../../core/files/pages.ts';
import { EVERYTHING_CONFIGURED } from './service-template.ts';

const TABLE = 'DataStoreTable.Arn';
const GUARDRAIL = `arn:AWS::Partition:bedrock:AWS::Region:AWS::AccountId:guardrail/${EVERYTHING_CONFIGURED.guardrailId}`;
const index = (name: string): string => `${TABLE}/index/${name}`;
/** The table's items with these partition keys. */
const itemsOf = (...prefixes: string[]): string => `${TABLE} of ${prefixes.join(', ')}`;
const BUCKET = 'DataStoreOutputs.Arn';
export const OUTPUTS = `${BUCKET}/outputs/*`;
export const CLIPS = `${BUCKET}/clips/*`;
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
export const ALL_RUN = [EXPIRY, GENERATION, VERIFICATION, WEBHOOKS].map(executionsOf).join(' ');
/** Those of the items of its Map, which Step Functions alone starts. */
export const BATCHES_RUN = executionsOf(VERIFICATION).replace('.Name:', '.Name/VerifyBatch:');

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
const CREATE = {
  [itemsOf(ACCOUNTS, END_USERS, IDEMPOTENCY, REQUESTS)]: onTable('BatchGetItem', 'GetItem'),
  [itemsOf(CATALOG)]: onTable('Query'),
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
  ...REMOVE_FILES,
};
const BLOCK = {
  ...READS_ACCOUNT,
  [itemsOf(KEYS, END_USERS)]: onTable('UpdateItem'),
};
/** Reads and writes of the same partitions have the same resource here, and are told apart by their actions. */
const TASK = 'dynamodb:GetItem dynamodb:Query dynamodb:UpdateItem';
const END = {
  [itemsOf(REQUESTS, ACCOUNTS)]: onTable('GetItem', 'Query'),
  [itemsOf(REQUESTS, ACCOUNTS, END_USERS, LEDGERS)]: onTable('PutItem', 'UpdateItem'),
};
/** The function that parses what strangers' servers send for a creation. */
const MEASURE_CLIPS = 'ClipMeasuringMeasureClipsFunction.Arn';
const WAKE = 'states:SendTaskSuccess';
/** Takes a request out of its queue, and gives its permit of a provider's route back. */
const LEAVE = { [itemsOf('GATE#*')]: onTable('DeleteItem', 'UpdateItem') };
const RUN = 'RECONCILER';
/** Starts a run of the reconciler if none is alive. */
const START_RUN = {
  [itemsOf(RUN)]: onTable('UpdateItem'),
  'ReconcilerReconcileFunction.Arn': 'lambda:InvokeFunction',
};

/** What each function may do besides writing logs: actions by resource. */
export const PERMISSIONS: Record<string, Record<string, string>> = {
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
    [requestsIn('GSI2', 'GSI3')]: onTable('Query'),
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue',
  },
  'api/delete-generation': DELETE,
  'api/bulk-delete-generations': DELETE,
  'api/list-end-users': {
    [itemsOf(ACCOUNTS, END_USERS)]: onTable('BatchGetItem', 'GetItem'),
    ...COUNTS_CALL,
    [listOf('END_USERS#*')]: onTable('Query'),
  },
  'api/delete-end-user': {
    [itemsOf(ACCOUNTS, END_USERS, REQUESTS, LEDGERS)]: onTable('GetItem', 'Query'),
    [itemsOf(END_USERS, REQUESTS, LEDGERS)]: DELETES,
    ...COUNTS_CALL,
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
    [itemsOf(ACCOUNTS, REQUESTS, RUN)]: onTable('GetItem', 'Query'),
    [itemsOf(KEYS, REQUESTS)]: onTable('UpdateItem'),
    [`${SIGNING_KEY} ${PROVIDER_KEYS}`]: 'secretsmanager:GetSecretValue',
    [GENERATION]: WAKE,
  },
  'api/list-models': {
    ...READS_ACCOUNT,
    [itemsOf(CATALOG)]: onTable('Query'),
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
    [itemsOf(REQUESTS)]: onTable('PutItem', 'Query', 'UpdateItem'),
    [`${SIGNING_KEY} ${CALLBACK_SECRET} ${PROVIDER_KEYS}`]: 'secretsmanager:GetSecretValue',
    ...LEAVE,
  },
  'workflow/await-capacity': {
    [itemsOf(REQUESTS, RUN)]: onTable('GetItem'),
    [itemsOf(REQUESTS)]: onTable('UpdateItem'),
    ...START_RUN,
    [itemsOf('GATE#*')]: onTable('DeleteItem', 'PutItem', 'UpdateItem'),
    [GENERATION]: WAKE,
  },
  'workflow/await-provider': {
    [itemsOf(REQUESTS, RUN)]: onTable('GetItem', 'Query'),
    [itemsOf(REQUESTS)]: onTable('UpdateItem'),
    ...START_RUN,
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
    [OUTPUTS]: 's3:AbortMultipartUpload s3:DeleteObject s3:PutObject',
    [CLIPS]: 's3:DeleteObject',
    [itemsOf('GATE#*')]: onTable('UpdateItem'),
  },
  'workflow/settle-request': { ...END, [WEBHOOKS]: 'states:StartExecution' },
  'workflow/fail-request': { ...END, ...REMOVE_FILES, ...LEAVE, [WEBHOOKS]: 'states:StartExecution' },
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
    [itemsOf(REQUESTS)]: onTable('ConditionCheckItem', 'PutItem'),
    [itemsOf('WEBHOOK_HOST#*', 'IN_FLIGHT#webhooks#*')]: onTable('UpdateItem'),
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue',
  },
  'events/reconcile': {
    [itemsOf(REQUESTS, ACCOUNTS, END_USERS, LEDGERS, RUN)]: onTable('BatchGetItem', 'GetItem', 'Query'),
    [itemsOf(REQUESTS, ACCOUNTS, END_USERS, LEDGERS)]: DELETES,
    [itemsOf(RUN)]: onTable('UpdateItem'),
    [itemsOf('GATE#*')]: onTable('BatchGetItem', 'DeleteItem', 'Query', 'UpdateItem'),
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
    ...LEAVE,
    [WEBHOOKS]: 'states:StartExecution',
    [GENERATIONS_RUN]: 'states:DescribeExecution',
  },
  'workflow/verify-ledgers': {
    [itemsOf(ACCOUNTS, REQUESTS, LEDGERS)]: onTable('BatchGetItem', 'GetItem', 'Query'),
    [requestsIn('GSI2')]: onTable('Query'),
  },
  'workflow/list-ledgers': { [listOf('ACCOUNTS')]: onTable('Query') },
  'events/stop-executions': {
    [`${EXPIRY} ${GENERATION} ${VERIFICATION} ${WEBHOOKS}`]: 'states:ListExecutions',
    [ALL_RUN]: 'states:StopExecution',
    'AWS::StackId': 'cloudformation:DescribeStacks',
  },
  'events/publish-pages': { [PAGES]: 's3:PutObject' },
  'events/create-signing-key': {
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue secretsmanager:PutSecretValue',
  },
};
