import { Stack, type StackProps } from 'aws-cdk-lib';
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { CLIP_PREFIX, OUTPUT_PREFIX, REQUEST_INDEXES } from '../core/table/keys.ts';
import { ApiEndpoints } from './api-endpoints.ts';
import { ClipMeasuring } from './clip-measuring.ts';
import { bindGuardrail } from './content-filter.ts';
import type { StackContext } from './context.ts';
import { Dashboard } from './dashboard.ts';
import { DataStore } from './data-store.ts';
import { ExecutionStopper } from './execution-stopper.ts';
import { FileDelivery } from './file-delivery.ts';
import { HttpApi } from './http-api.ts';
import { LedgerVerification } from './ledger-verification.ts';
import { Monitoring } from './monitoring.ts';
import { ProviderSecrets } from './provider-secrets.ts';
import { PublicPages } from './public-pages.ts';
import { Reconciler } from './reconciler.ts';
import { SandboxProviders } from './sandbox-providers.ts';
import { ServiceFunction } from './service-function.ts';
import { Settings } from './settings.ts';
import { addOutputs } from './stack-outputs.ts';
import { TABLE_ACCESS } from './table-access.ts';
import { WebAcl } from './web-acl.ts';
import { Workflow } from './workflow.ts';
import {
  EXPIRY_DEFINITION,
  generationDefinition,
  WEBHOOK_DELIVERY_DEFINITION,
} from './workflow-definitions.ts';

/** What the stack is made from. */
export interface GenerationServiceStackProps extends StackProps {
  context: StackContext;
  /** Folder of a function's bundle, by the function's name (`api/get-balance`). */
  bundleOf: (name: string) => string;
}

/** The entries of a record, none of them undefined. */
const entriesOf = <Name extends string, Value>(record: Partial<Record<Name, Value>>): [Name, Value][] =>
  Object.entries(record) as [Name, Value][];

/** The whole service: its capabilities, and which function may use which. */
export class GenerationServiceStack extends Stack {
  constructor(scope: Construct, id: string, { context, bundleOf, ...props }: GenerationServiceStackProps) {
    super(scope, id, {
      terminationProtection: context.removalPolicy === 'keep',
      // CloudFormation passes it on to every resource that can have tags.
      tags: { service: context.stackName },
      ...props,
    });
    const settings = new Settings(context);
    const dataStore = new DataStore(this, 'DataStore', context);
    const sandbox =
      context.providers === 'sandbox' ? new SandboxProviders(this, 'Sandbox', bundleOf, context) : undefined;
    const secrets = new ProviderSecrets(this, 'ProviderSecrets', context, sandbox);
    const httpApi = new HttpApi(this, 'HttpApi', context);
    const { bucket } = dataStore;
    const fileDelivery = new FileDelivery(this, 'Delivery', { bundleOf, context, bucket, httpApi });
    new PublicPages(this, 'PublicPages', {
      bundleOf,
      bucket,
      baseUrl: httpApi.baseUrl,
      hasConsole: context.console,
    });
    const endpoints = new ApiEndpoints(this, 'Api', bundleOf);
    httpApi.addRoutes(endpoints.routes);
    const clipMeasuring = new ClipMeasuring(this, 'ClipMeasuring', bundleOf);
    const generation = new Workflow(this, 'GenerationWorkflow', {
      bundleOf,
      context,
      ...generationDefinition(context.imageDeadlineSeconds),
    });
    const expiry = new Workflow(this, 'ExpiryWorkflow', { bundleOf, context, ...EXPIRY_DEFINITION });
    const webhookDelivery = new Workflow(this, 'WebhookWorkflow', {
      bundleOf,
      context,
      ...WEBHOOK_DELIVERY_DEFINITION,
    });
    const reconciler = new Reconciler(this, 'Reconciler', { bundleOf, context, generation });
    const { reconcile, reconcileLost, rules } = reconciler;
    const { workflow: verifyLedgers, rules: ledgerRules } = new LedgerVerification(
      this,
      'LedgerVerification',
      {
        bundleOf,
        context,
      },
    );
    const monitoring = new Monitoring(this, 'Monitoring', {
      context,
      api: httpApi.api,
      generation,
      expiry,
    });

    new ExecutionStopper(this, 'ExecutionStopper', {
      bundleOf,
      stateMachines: {
        Generation: generation.stateMachine,
        Webhooks: webhookDelivery.stateMachine,
        Expiry: expiry.stateMachine,
        VerifyLedgers: verifyLedgers.stateMachine,
      },
    }).after(httpApi.api.deploymentStage, ...rules, ...ledgerRules);

    const { functions: api } = endpoints;
    const task = {
      ...generation.tasks,
      ...expiry.tasks,
      ...webhookDelivery.tasks,
      ...verifyLedgers.tasks,
    };
    const creators = [api['create-generation'], api['create-video']];
    const readers = [api['get-generation'], api['get-video'], api['list-generations']];
    const deleters = [api['delete-generation'], api['bulk-delete-generations'], api['delete-end-user']];
    const finishers = [task['settle-request'], task['fail-request'], reconcile, reconcileLost];
    const pollers = [api['get-video'], api['receive-callback'], task['await-provider'], reconcile];
    const providerCallers = [...pollers, task['query-provider'], task['dispatch-request']];
    const admitters = [task['await-capacity'], task['fail-request'], reconcileLost];

    const users = {
      ...api,
      ...task,
      reconcile,
      'reconcile-lost': reconcileLost,
    };
    for (const [name, access] of entriesOf(TABLE_ACCESS)) dataStore.bindItems(users[name], access);
    dataStore.bindRequestIndexes(api['list-generations'], ...Object.values(REQUEST_INDEXES));
    dataStore.bindRequestIndexes(api['delete-end-user'], REQUEST_INDEXES.byEndUser);
    dataStore.bindRequestIndexes(task['verify-ledgers'], REQUEST_INDEXES.byAccount);
    dataStore.bindListing(api['list-end-users'], 'endUserLists');
    dataStore.bindListing(reconcile, 'dueLists');
    dataStore.bindListing(reconcile, 'gateList');
    dataStore.bindListing(task['list-expired-requests'], 'expiryList');
    dataStore.bindRequestIndexes(reconcile, REQUEST_INDEXES.byEndUser);
    dataStore.bindListing(task['list-ledgers'], 'accountList');
    const webhook = task['deliver-webhook'];
    dataStore.bindFiles([task['store-outputs']], 'store', [OUTPUT_PREFIX]);
    dataStore.bindFiles([task['store-outputs'], clipMeasuring.measureClips], 'delete', [CLIP_PREFIX]);
    dataStore.bindFiles([clipMeasuring.measureClips], 'copy', [CLIP_PREFIX]);
    dataStore.bindFiles([task['expire-requests']], 'delete');
    dataStore.bindFiles([...deleters, task['fail-request'], reconcile, reconcileLost], 'remove');

    secrets.bindProviders(providerCallers);
    secrets.bindRoutes(admitters);
    secrets.bindProviderStatus([...creators, api['list-models']]);
    secrets.bindCallbacks([task['dispatch-request'], api['receive-callback']]);
    fileDelivery.bindSigning([...readers, webhook, task['dispatch-request']]);
    httpApi.bindBaseUrl([...creators, ...readers, task['dispatch-request'], webhook]);
    bindGuardrail(creators, context);
    clipMeasuring.bindInvoke([api['create-video']]);

    expiry.bindStart([reconcile]);
    webhookDelivery.bindStart(finishers);
    generation.bindStart([...creators, reconcile]);
    generation.allowWake([...pollers, task['await-capacity']]);
    reconciler.allowStart({
      'await-provider': task['await-provider'],
      'await-capacity': task['await-capacity'],
    });
    generation.bindStatus([reconcile, reconcileLost]);

    const deadlines = [
      ...(['IMAGE_DEADLINE_SECONDS', 'VIDEO_DEADLINE_SECONDS', 'QUEUE_DEADLINE_SECONDS'] as const),
      'POLL_INTERVAL_SECONDS',
    ] as const;
    const timed = [task['dispatch-request'], task['query-provider'], task['store-outputs'], reconcile];
    settings.bind(timed, ...deadlines);
    settings.bind(creators, 'RETENTION_DAYS');
    settings.bind(finishers, 'PAUSE_SECONDS');
    settings.bind(finishers, 'OUTPUT_TTL_SECONDS');
    const { measureClips } = clipMeasuring;
    settings.bind([...creators, measureClips, task['store-outputs'], webhook], 'ALLOW_PRIVATE_TARGETS');
    const outbound = [...providerCallers, ...creators, measureClips, task['store-outputs'], webhook];
    settings.bind([...new Set(outbound)], 'USER_AGENT');
    settings.bind([task['dispatch-request'], reconcile], 'CALLBACK_WAIT_SECONDS');
    settings.bind([webhook], 'WEBHOOK_RETRY_SECONDS');

    const waiting = { ...task, 'measure-clips': measureClips };
    for (const [name, executions] of entriesOf(context.reservedConcurrency ?? {})) {
      waiting[name].reserveConcurrency(executions);
    }

    if (context.wafRequestsPer5Minutes !== undefined) {
      const requestsPer5Minutes = context.wafRequestsPer5Minutes;
      new WebAcl(this, 'WebAcl', { api: httpApi.api, requestsPer5Minutes });
    }
    for (const construct of this.node.findAll()) {
      if (construct instanceof CfnLogGroup) construct.retentionInDays = context.logRetentionDays;
      if (construct instanceof ServiceFunction && context.tracing) construct.trace();
    }

    new Dashboard(this, 'Dashboard', {
      api: httpApi.api,
      table: dataStore.table,
      stateMachines: {
        generation: generation.stateMachine,
        'webhook-delivery': webhookDelivery.stateMachine,
        'verify-ledgers': verifyLedgers.stateMachine,
        expiry: expiry.stateMachine,
      },
      functions: [...Object.values(users), measureClips],
    });

    addOutputs(this, {
      context,
      httpApi,
      dataStore,
      secrets,
      sandbox,
      settings,
      monitoring,
      generation,
      expiry,
      webhookDelivery,
      verifyLedgers,
      fileDelivery,
    });
  }
}
