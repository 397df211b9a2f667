import { EndUser } from '../../core/end-users/end-users.ts';
import { PUBLIC_PAGES } from '../../core/files/pages.ts';
import { LedgerEntry } from '../../core/ledger/ledger.ts';
import { CLIP_PREFIX, OUTPUT_PREFIX, UPLOAD_PREFIX } from '../../core/object-keys.ts';
import { ImageRequest } from '../../core/requests/request-rules.ts';
import {
  ACCOUNT_LISTING_PARTITION,
  accountKey,
  apiKeyKey,
  deletedRequestKey,
  duePartition,
  endUserKey,
  endUserListingPartition,
  type ItemKey,
  idempotencyKey,
  inFlightKey,
  LISTING_INDEX,
  ledgerEntryKey,
  modelSettingsKey,
  providerAttemptKey,
  QUEUE_LISTING_PARTITION,
  RECONCILER_RUN_KEY,
  REQUEST_INDEXES,
  requestKey,
  routeLimitKey,
  routeStateKey,
  webhookAttemptKey,
  webhookHostKey,
} from '../../core/table/keys.ts';

/** A call of a role to the table, as the SDK sends it but for the table's name. */
type TableCall = [operation: string, request: Record<string, unknown>];
/** Any other call: its action, and on what, by the beginning of a logical id, with a path for an object. */
type OtherCall = { action: string; on: string; path?: string; execution?: boolean };
/** A call of a role. */
export type Call = TableCall | OtherCall;

const ACCOUNT = 'acc_1';
const REQUEST = 'img_1';
const text = (values: object): Record<string, { S: string }> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { S: String(value) }]));
const itemOf = (key: ItemKey, names: readonly string[]) =>
  text({ ...key, ...Object.fromEntries(names.map((name) => [name, 'x'])) });

const get = (key: ItemKey): TableCall[] => [
  ['GetItem', { Key: text(key) }],
  ['BatchGetItem', { Keys: [text(key)] }],
  ['Query', { KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': { S: key.PK } } }],
];
const put = (key: ItemKey, ...names: string[]): TableCall => ['PutItem', { Item: itemOf(key, names) }];
/** Sets these attributes, in one call. */
const set = (key: ItemKey, ...names: string[]): TableCall => [
  'UpdateItem',
  { Key: text(key), UpdateExpression: `SET ${names.map((name) => `${name} = :x`).join(', ')}` },
];
/** Changes one of the given attributes, by any expression that names the attribute. */
const change = (key: ItemKey, ...names: string[]): TableCall[] =>
  names.flatMap((name): TableCall[] => [
    set(key, name),
    ['UpdateItem', { Key: text(key), UpdateExpression: `REMOVE ${name}` }],
    [
      'UpdateItem',
      { Key: text(key), UpdateExpression: 'SET #n = :x', ExpressionAttributeNames: { '#n': name } },
    ],
    [
      'TransactWriteItems',
      { TransactItems: [{ Update: { Key: text(key), UpdateExpression: `REMOVE ${name}` } }] },
    ],
  ]);
const remove = (key: ItemKey): TableCall[] => [
  ['DeleteItem', { Key: text(key) }],
  ['BatchWriteItem', { Requests: [{ DeleteRequest: { Key: text(key) } }] }],
  ['TransactWriteItems', { TransactItems: [{ Delete: { Key: text(key) } }] }],
];
const list = (index: { name: string; partition: string }, partition: string): TableCall[] => [
  [
    'Query',
    {
      IndexName: index.name,
      KeyConditionExpression: `${index.partition} = :p`,
      ExpressionAttributeValues: { ':p': { S: partition } },
    },
  ],
];
const call = (action: string, on: string, rest: Omit<OtherCall, 'action' | 'on'> = {}): OtherCall => ({
  ...{ action, on },
  ...rest,
});

const account = accountKey(ACCOUNT);
const key = apiKeyKey('key_1');
const entry = ledgerEntryKey(ACCOUNT, 1);
const request = requestKey(REQUEST);
const attempt = providerAttemptKey(REQUEST, 0, 0);
const mark = deletedRequestKey(ACCOUNT, REQUEST);
const endUser = endUserKey(ACCOUNT, 'ada@example.com');
const webhookAttempt = webhookAttemptKey(REQUEST, REQUEST, 1);
const host = webhookHostKey(ACCOUNT, 'digest');
const idempotency = idempotencyKey(ACCOUNT, 'digest');
const settings = modelSettingsKey('xSD4.5');
const routeLimit = routeLimitKey('modelark/seedream');
const routeState = routeStateKey('modelark/seedream');
const OUTPUT = `${OUTPUT_PREFIX}${REQUEST}/0.png`;
const CLIP = `${CLIP_PREFIX}${REQUEST}/0.mp4`;
const UPLOAD = `${UPLOAD_PREFIX}x/upl_1.png`;
const PAGE = PUBLIC_PAGES[0]?.key ?? '';
const BUCKET = 'DataStoreOutputs';
const KEY_USE = ['tat', 'allowAt', 'intervalMs', 'spareMs', 'lastUsedAt'];
/** A request's owner, price and receiver. */
const FACTS = [
  ...[
    'kind',
    'accountId',
    'endUserEmail',
    'endUserId',
    'model',
    'prompt',
    'webhookUrl',
    'images',
    'createdAt',
  ],
  ...['unitPriceThousandths', 'debitThousandths', 'costThousandths', 'refundThousandths'],
  ...['debitEntryNumber', 'refundEntryNumber', 'retentionDays'],
] as const satisfies (keyof ImageRequest)[];

/**
 * The aims of a stranger who runs code in a role, each with the calls that reach it: one allowed call is enough. SECURITY.md shows the
 * names.
 */
export const MISUSES = {
  'issue or change API keys': [
    put(key, 'digest', 'accountId', 'scopes', ...KEY_USE),
    ...change(key, 'digest', 'accountId', 'scopes', 'revokedAt', 'keyId', 'label', 'createdAt', 'last4'),
    ...remove(key),
  ],
  'delete ledger entries': remove(entry),
  'change rates and switches': [
    put(settings, 'rate'),
    ...change(settings, 'rate', 'enabled'),
    ...remove(settings),
  ],
  'delete accounts': remove(account),

  'use up or lift the rate limits of known API keys': [set(key, ...KEY_USE)],
  'read accounts with their webhook secrets': get(account),
  'change balances, prices, webhooks and blocks of accounts': [
    put(account, 'balanceThousandths'),
    ...change(account, 'balanceThousandths', 'webhookSecret', 'blockedAt'),
  ],
  'read ledgers': get(entry),
  'put and rewrite ledger entries': [
    put(entry, ...Object.keys(LedgerEntry.shape)),
    ...change(entry, 'amountThousandths', 'balanceAfterThousandths', 'reference'),
  ],
  'invent requests and refunds': [
    put(request, ...Object.keys(ImageRequest.shape)),
    put(request, ...FACTS),
    ...change(request, ...FACTS),
  ],
  'read requests with their prompts': get(request),
  'falsify states, outputs and attempts of requests': [
    set(request, 'status', 'outputs', 'GSI1PK'),
    set(attempt, 'outcome', 'baseUrl', 'taskId'),
  ],
  'move the expiry of requests': [set(request, 'expiresAt')],
  'remove or overwrite requests': [put(request, 'status'), ...remove(request), ...remove(attempt)],
  'read marks of deletions': get(mark),
  'falsify marks of deletions': [put(mark, 'files', 'accounted'), set(mark, 'files'), ...remove(mark)],
  'read webhook attempts': get(webhookAttempt),
  'falsify webhook attempts': [
    put(webhookAttempt, 'status'),
    set(webhookAttempt, 'status'),
    [
      'TransactWriteItems',
      {
        TransactItems: [
          { ConditionCheck: { Key: text(webhookAttempt), ConditionExpression: 'attribute_not_exists(PK)' } },
          { Put: { Item: itemOf(webhookAttempt, ['status']) } },
        ],
      },
    ],
  ],
  'remove webhook attempts': remove(webhookAttempt),
  'read end-users': get(endUser),
  'block and unblock end-users': [set(endUser, 'blockedAt')],
  'change the sums, pauses and budgets of end-users': [
    put(endUser, ...Object.keys(EndUser.shape)),
    ...change(endUser, 'spentThousandths', 'activeRequests'),
  ],
  'remove end-users': remove(endUser),
  'read idempotency records': get(idempotency),
  'remove idempotency records': [['DeleteItem', { Key: text(idempotency) }]],
  'change idempotency records': [put(idempotency, 'requestId'), ...change(idempotency, 'requestId')],
  'read rates and switches': get(settings),
  'fill the slots for judging prompts': [set(inFlightKey('filter', ACCOUNT), 'slots')],
  'fill the slots for measuring clips': [set(inFlightKey('clips', ACCOUNT), 'slots')],
  'fill the slots for calls of OpenAI clients': [set(inFlightKey('openai', ACCOUNT), 'slots')],
  'fill the slots for uploads': [set(inFlightKey('uploads', ACCOUNT), 'slots')],
  'fill the slots for usage': [set(inFlightKey('usage', ACCOUNT), 'slots')],
  'fill the slots for webhooks': [set(inFlightKey('webhooks', ACCOUNT), 'slots')],
  'read which webhook hosts hang': get(host),
  'hold webhooks of a host back': [set(host, 'notBefore')],
  'read the queues of providers': get(routeLimit),
  'change permits of providers': [set(routeLimit, 'used')],
  'add to the queues of providers': [put(routeLimit, 'used')],
  'remove from the queues of providers': remove(routeLimit),
  'read which routes are paused': get(routeState),
  'pause routes': [set(routeState, 'pausedAt')],
  'read the run of the reconciler': get(RECONCILER_RUN_KEY),
  'stop or redirect the run of the reconciler': [set(RECONCILER_RUN_KEY, 'runId')],

  'list accounts': list(LISTING_INDEX, ACCOUNT_LISTING_PARTITION),
  'list end-users': list(LISTING_INDEX, endUserListingPartition(ACCOUNT)),
  'list expired requests': list(LISTING_INDEX, duePartition('EXPIRE', 0)),
  'list due work': list(LISTING_INDEX, duePartition('CHECK', 0)),
  'list the queues of providers': list(LISTING_INDEX, QUEUE_LISTING_PARTITION),
  'list the requests of an account': list(REQUEST_INDEXES.byAccount, ACCOUNT),
  'list the requests of an end-user': list(REQUEST_INDEXES.byEndUser, `${ACCOUNT}#ada@example.com`),

  'read the API keys of providers': [
    call('secretsmanager:GetSecretValue', 'ProviderSecretsModelArk'),
    call('secretsmanager:GetSecretValue', 'ProviderSecretsModelStudio'),
  ],
  'use the API key of the canary': [call('secretsmanager:GetSecretValue', 'CanaryApiKey')],
  'see which providers have a key': [
    call('secretsmanager:DescribeSecret', 'ProviderSecretsModelArk'),
    call('secretsmanager:DescribeSecret', 'ProviderSecretsModelStudio'),
  ],
  'forge callbacks of providers': [call('secretsmanager:GetSecretValue', 'ProviderSecretsCallbacks')],
  'sign URLs of all files': [call('secretsmanager:GetSecretValue', 'DeliverySigningKey')],
  'replace the signing key of files': [call('secretsmanager:PutSecretValue', 'DeliverySigningKey')],
  'read outputs': [call('s3:GetObject', BUCKET, { path: OUTPUT })],
  'replace outputs': [
    call('s3:PutObject', BUCKET, { path: OUTPUT }),
    call('s3:AbortMultipartUpload', BUCKET, { path: OUTPUT }),
  ],
  'remove outputs': [call('s3:DeleteObject', BUCKET, { path: OUTPUT })],
  'read clips': [call('s3:GetObject', BUCKET, { path: CLIP })],
  'replace clips': [
    call('s3:PutObject', BUCKET, { path: CLIP }),
    call('s3:AbortMultipartUpload', BUCKET, { path: CLIP }),
  ],
  'replace uploads': [call('s3:PutObject', BUCKET, { path: UPLOAD })],
  'remove uploads': [call('s3:DeleteObject', BUCKET, { path: UPLOAD })],
  'remove clips': [call('s3:DeleteObject', BUCKET, { path: CLIP })],
  'list files': [call('s3:ListBucket', BUCKET)],
  'replace public pages': [call('s3:PutObject', BUCKET, { path: PAGE })],

  'start generations': [call('states:StartExecution', 'GenerationWorkflowMachine')],
  'start expiries': [call('states:StartExecution', 'ExpiryWorkflowMachine')],
  'start webhook deliveries': [call('states:StartExecution', 'WebhookWorkflowMachine')],
  'have webhooks attempted': [call('lambda:InvokeFunction', 'WebhookWorkflowDeliverWebhookFunction')],
  'wake generations': [call('states:SendTaskSuccess', 'GenerationWorkflowMachine')],
  'see how generations run': [
    call('states:DescribeExecution', 'GenerationWorkflowMachine', { execution: true }),
  ],
  'stop all executions': [
    call('states:ListExecutions', 'GenerationWorkflowMachine'),
    call('states:StopExecution', 'GenerationWorkflowMachine', { execution: true }),
  ],
  'see the state of the stack': [call('cloudformation:DescribeStacks', 'stack')],
  'have clips fetched and measured': [call('lambda:InvokeFunction', 'ClipMeasuringMeasureClipsFunction')],
  'see the concurrency of the AWS account': [{ action: 'lambda:GetAccountSettings', on: '*' }],
  'start the reconciler': [call('lambda:InvokeFunction', 'ReconcilerReconcileFunction')],
  'have texts judged at our cost': [call('bedrock:ApplyGuardrail', 'guardrail')],
} as const satisfies Record<string, readonly Call[]>;
/** The name of a misuse. */
export type Misuse = keyof typeof MISUSES;
