import { CLIP_PREFIX, OUTPUT_PREFIX, UPLOAD_PREFIX } from '../core/object-keys.ts';
import { QUOTES } from '../core/routes.ts';
import { REQUEST_INDEXES } from '../core/table/keys.ts';
import type { ApiEndpoints } from './api-endpoints.ts';
import type { ClipMeasuring } from './clip-measuring.ts';
import { bindGuardrail } from './content-filter.ts';
import type { StackContext } from './context.ts';
import type { DataStore } from './data-store.ts';
import type { FileDelivery } from './file-delivery.ts';
import type { HttpApi } from './http-api.ts';
import type { LedgerVerification } from './ledger-verification.ts';
import type { ProviderSecrets } from './provider-secrets.ts';
import type { Reconciler } from './reconciler.ts';
import type { ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import { TABLE_ACCESS, type TableUser } from './table-access.ts';
import type { Workflow } from './workflow.ts';
import type {
  EXPIRY_DEFINITION,
  generationDefinition,
  WEBHOOK_DELIVERY_DEFINITION,
} from './workflow-definitions.ts';

/** The functions of all workflows' tasks, by file name. */
type Tasks = Record<
  | keyof ReturnType<typeof generationDefinition>['tasks']
  | keyof (typeof EXPIRY_DEFINITION)['tasks']
  | keyof (typeof WEBHOOK_DELIVERY_DEFINITION)['tasks']
  | keyof LedgerVerification['workflow']['tasks'],
  ServiceFunction
>;

/** The entries of a record, none of them undefined. */
export const namedEntries = <Name extends string, Value>(
  record: Partial<Record<Name, Value>>,
): [Name, Value][] => Object.entries(record) as [Name, Value][];

/** Every function by its name, and those that share access in groups. */
export const groupFunctions = (
  { functions: api, quotes, openAi }: Pick<ApiEndpoints, 'functions' | 'quotes' | 'openAi'>,
  task: Tasks,
  { reconcile, reconcileLost }: Reconciler,
  { measureClips }: ClipMeasuring,
) => {
  const openAiCreators = openAi ? [openAi['create-openai-image'], openAi['edit-openai-image']] : [];
  const videos = openAi ? [openAi['openai-videos']] : [];
  const creators = [api['create-generation'], api['create-video'], ...openAiCreators, ...videos];
  const listers = [api['list-generations'], api['list-videos'], ...videos];
  const pollers = [api['get-video'], api['receive-callback'], task['await-provider'], reconcile];
  return {
    api,
    openAi,
    task,
    reconcile,
    reconcileLost,
    measureClips,
    all: {
      ...api,
      ...(quotes && { [QUOTES]: quotes }),
      ...openAi,
      ...task,
      reconcile,
      'reconcile-lost': reconcileLost,
      'measure-clips': measureClips,
    },
    creators,
    /** Judge a creation, with its prompt and its input files. */
    judges: [...creators, ...(quotes ? [quotes] : [])],
    openAiCreators,
    modelListers: [
      api['list-models'],
      ...(openAi ? [openAi['list-openai-models'], openAi['get-openai-model']] : []),
    ],
    listers,
    readers: [api['get-generation'], api['get-video'], ...listers],
    deleters: [api['delete-generation'], api['bulk-delete-generations'], api['delete-end-user'], ...videos],
    /** End requests. */
    finishers: [task['settle-request'], task['fail-request'], reconcile, reconcileLost],
    /** Query providers about tasks. */
    pollers,
    providerCallers: [...pollers, task['query-provider'], task['dispatch-request']],
    /** Find the limits of the providers' routes, and call no provider. */
    admitters: [
      task['await-capacity'],
      task['store-outputs'],
      task['settle-request'],
      task['fail-request'],
      reconcileLost,
    ],
  };
};
type Functions = ReturnType<typeof groupFunctions>;

const isTableUser = (name: string): name is TableUser => Object.hasOwn(TABLE_ACCESS, name);

/** Lets functions read and write their items of the table and query its indexes. */
export const bindTable = (dataStore: DataStore, { all, api, task, reconcile, listers }: Functions): void => {
  for (const [name, to] of namedEntries(all)) {
    if (isTableUser(name)) dataStore.bindItems(to, TABLE_ACCESS[name]);
  }
  for (const lister of listers) dataStore.bindRequestIndexes(lister, ...Object.values(REQUEST_INDEXES));
  for (const name of ['delete-end-user', 'get-end-user-budget', 'put-end-user-budget'] as const)
    dataStore.bindRequestIndexes(api[name], REQUEST_INDEXES.byEndUser);
  dataStore.bindRequestIndexes(task['verify-ledgers'], REQUEST_INDEXES.byAccount);
  dataStore.bindListing(api['list-end-users'], 'endUserLists');
  dataStore.bindListing(reconcile, 'dueLists');
  dataStore.bindListing(reconcile, 'queueList');
  dataStore.bindListing(task['list-expired-requests'], 'expiryList');
  dataStore.bindRequestIndexes(reconcile, REQUEST_INDEXES.byEndUser);
  dataStore.bindListing(task['list-ledgers'], 'accountList');
};

/** Lets functions store, copy and remove files. */
export const bindFiles = (
  dataStore: DataStore,
  { api, openAi, task, deleters, reconcile, reconcileLost, measureClips }: Functions,
): void => {
  dataStore.bindFiles([task['store-outputs']], 'store', [OUTPUT_PREFIX]);
  dataStore.bindFiles([task['store-outputs'], measureClips], 'delete', [CLIP_PREFIX]);
  dataStore.bindFiles([measureClips], 'copy', [CLIP_PREFIX]);
  const editors = openAi ? [openAi['edit-openai-image'], openAi['openai-videos']] : [];
  dataStore.bindFiles([api['create-upload'], ...editors], 'put', [UPLOAD_PREFIX]);
  dataStore.bindFiles(editors, 'delete', [UPLOAD_PREFIX]);
  dataStore.bindFiles([task['expire-requests']], 'delete');
  dataStore.bindFiles([...deleters, task['fail-request'], reconcile, reconcileLost], 'remove');
  // Uploads go with the requests that named them.
  dataStore.bindFiles([...deleters, reconcile], 'delete', [UPLOAD_PREFIX]);
};

/** Gives functions what their calls take: providers' keys, signing keys, base URLs, the content filter, the measuring of clips. */
export const bindCalls = (
  {
    secrets,
    fileDelivery,
    httpApi,
    clipMeasuring,
    context,
  }: {
    secrets: ProviderSecrets;
    fileDelivery: FileDelivery;
    httpApi: HttpApi;
    clipMeasuring: ClipMeasuring;
    context: StackContext;
  },
  { api, task, creators, judges, modelListers, readers, providerCallers, admitters, reconcile }: Functions,
): void => {
  const webhook = task['deliver-webhook'];
  secrets.bindProviders(providerCallers);
  secrets.bindRoutes([...admitters, api['create-upload'], task['store-outputs']]);
  secrets.bindProviderStatus([...judges, ...modelListers]);
  secrets.bindCallbacks([task['dispatch-request'], api['receive-callback']]);
  fileDelivery.bindSigning([...readers, webhook, task['dispatch-request'], reconcile, ...judges]);
  fileDelivery.bindAddresses(judges);
  fileDelivery.bindBaseUrl([api['create-upload']]);
  httpApi.bindBaseUrl([...creators, ...readers, task['dispatch-request'], webhook]);
  bindGuardrail(judges, context);
  clipMeasuring.bindInvoke(judges);
  // The action has no resources.
  for (const waiting of judges) waiting.allow(['lambda:GetAccountSettings'], ['*']);
};

/** Lets functions start, wake and describe executions. */
export const bindExecutions = (
  {
    generation,
    expiry,
    webhookDelivery,
    reconciler,
  }: Record<
    'generation' | 'expiry' | 'webhookDelivery',
    Pick<Workflow<never>, 'bindStart' | 'allowWake' | 'bindStatus'>
  > & { webhookDelivery: Pick<Workflow<'deliver-webhook'>, 'bindInvoke'>; reconciler: Reconciler },
  { creators, finishers, pollers, task, reconcile, reconcileLost }: Functions,
): void => {
  expiry.bindStart([reconcile]);
  webhookDelivery.bindStart([reconcileLost]);
  webhookDelivery.bindInvoke('deliver-webhook', 'DELIVER_WEBHOOK_FUNCTION_ARN', [...finishers, ...creators]);
  generation.bindStart([...creators, reconcile]);
  generation.allowWake([...pollers, task['await-capacity']]);
  reconciler.allowStart([task['await-provider'], task['await-capacity']]);
  generation.bindStatus([reconcile, reconcileLost]);
};

/** Gives functions the settings that they read. */
export const bindSettings = (
  settings: Settings,
  { api, task, judges, openAiCreators, finishers, providerCallers, reconcile, measureClips }: Functions,
): void => {
  const webhook = task['deliver-webhook'];
  const timed = [task['dispatch-request'], task['query-provider'], task['store-outputs'], reconcile];
  settings.bind(
    timed,
    'IMAGE_DEADLINE_SECONDS',
    'VIDEO_DEADLINE_SECONDS',
    'QUEUE_DEADLINE_SECONDS',
    'POLL_INTERVAL_SECONDS',
  );
  settings.bind(judges, 'RETENTION_DAYS', 'REFUSED_WORK_PER_HOUR');
  settings.bind(finishers, 'PAUSE_SECONDS');
  settings.bind(finishers, 'OUTPUT_TTL_SECONDS');
  settings.bind(
    [...judges, api['receive-callback'], measureClips, task['store-outputs'], webhook],
    'ALLOW_PRIVATE_TARGETS',
  );
  const outbound = [...providerCallers, ...judges, measureClips, task['store-outputs'], webhook];
  settings.bind([...new Set(outbound)], 'USER_AGENT');
  settings.bind(providerCallers, 'AI_MARKING');
  settings.bind([task['dispatch-request'], reconcile], 'CALLBACK_WAIT_SECONDS');
  settings.bind([webhook], 'WEBHOOK_RETRY_SECONDS');
  settings.bind([api['list-models']], 'PUBLISH_RATES');
  settings.bind(openAiCreators, 'OPENAI_WAIT_SECONDS', 'OPENAI_WAITING', 'OPENAI_WAITING_IN_ALL');
};
