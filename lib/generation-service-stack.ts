import { Stack, type StackProps } from 'aws-cdk-lib';
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { ApiEndpoints } from './api-endpoints.ts';
import { Canary } from './canary.ts';
import { ClipMeasuring } from './clip-measuring.ts';
import type { StackContext } from './context.ts';
import { Dashboard } from './dashboard.ts';
import { DataStore } from './data-store.ts';
import { addDeliveryAlarm } from './delivery-alarm.ts';
import { ExecutionStopper } from './execution-stopper.ts';
import { FileDelivery } from './file-delivery.ts';
import {
  bindCalls,
  bindExecutions,
  bindFiles,
  bindSettings,
  bindTable,
  groupFunctions,
  namedEntries,
} from './function-access.ts';
import { HttpApi } from './http-api.ts';
import { LedgerVerification } from './ledger-verification.ts';
import { Monitoring } from './monitoring.ts';
import { BOUNDARY_KEY, boundaryOf } from './permissions-boundary.ts';
import { ProviderSecrets } from './provider-secrets.ts';
import { PublicPages } from './public-pages.ts';
import { Reconciler } from './reconciler.ts';
import { SandboxProviders } from './sandbox-providers.ts';
import { ServiceFunction } from './service-function.ts';
import { Settings } from './settings.ts';
import { addOutputs } from './stack-outputs.ts';
import { TableExport } from './table-export.ts';
import { WebAcl } from './web-acl.ts';
import { Workflow } from './workflow.ts';
import {
  EXPIRY_DEFINITION,
  generationDefinition,
  WEBHOOK_DELIVERY_DEFINITION,
} from './workflow-definitions.ts';

/** Props of the stack. */
export interface GenerationServiceStackProps extends StackProps {
  context: StackContext;
  /** Folder of a function's bundle, by the function's name (`api/get-balance`). */
  bundleOf: (name: string) => string;
  /** Commit of the sources, for an output. */
  commit?: string | undefined;
}

/** The whole service: its capabilities. Which function may use which is in `function-access.ts`. */
export class GenerationServiceStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { context, bundleOf, commit, ...props }: GenerationServiceStackProps,
  ) {
    const boundary = boundaryOf(context[BOUNDARY_KEY]);
    super(scope, id, {
      terminationProtection: context.removalPolicy === 'keep',
      // CloudFormation passes it on to every resource that can have tags.
      tags: { service: context.stackName },
      ...(boundary && { permissionsBoundary: boundary }),
      ...props,
    });
    const settings = new Settings(context);
    const dataStore = new DataStore(this, 'DataStore', context);
    const sandbox =
      context.providers === 'sandbox' ? new SandboxProviders(this, 'Sandbox', bundleOf, context) : undefined;
    const secrets = new ProviderSecrets(this, 'ProviderSecrets', context, sandbox);
    const httpApi = new HttpApi(this, 'HttpApi', context);
    const { bucket, table } = dataStore;
    const fileDelivery = new FileDelivery(this, 'Delivery', { bundleOf, context, bucket, httpApi });
    httpApi.addErrors(fileDelivery.referenceUrl);
    new PublicPages(this, 'PublicPages', {
      bundleOf,
      bucket,
      baseUrl: httpApi.baseUrl,
      hasConsole: context.console,
    });
    const endpoints = new ApiEndpoints(this, 'Api', bundleOf, context);
    httpApi.addRoutes(endpoints.routes, endpoints.openAi?.['get-openai-model'].lambda);
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
    const reconciler = new Reconciler(this, 'Reconciler', { bundleOf, context, generation, webhookDelivery });
    const ledgers = new LedgerVerification(this, 'LedgerVerification', { bundleOf, context });
    const verifyLedgers = ledgers.workflow;
    const workflows = { generation, expiry, webhookDelivery };
    const monitoring = new Monitoring(this, 'Monitoring', {
      ...{ context, table, api: httpApi.api, ...workflows },
      providers: secrets.accounts.map(({ id: account }) => account),
      workers: [
        ...Object.values(generation.tasks),
        ...Object.values(webhookDelivery.tasks),
        ...[reconciler.reconcile, clipMeasuring.measureClips],
      ],
      answering: (['create-generation', 'create-video', 'get-generation', 'get-video'] as const).map(
        (name) => endpoints.functions[name],
      ),
      models: Object.keys({ ...sandbox?.modelRoutes, ...context.modelRoutes }),
    });

    addDeliveryAlarm(monitoring, monitoring.alarm, {
      distribution: fileDelivery.distribution,
      gigabytesPerHour: context.deliveredGigabytesPerHour,
    });
    const { canary: model } = context;
    const canary =
      model === undefined
        ? undefined
        : new Canary(this, 'Canary', { bundleOf, model, alarm: monitoring.alarm });

    new ExecutionStopper(this, 'ExecutionStopper', {
      bundleOf,
      stateMachines: {
        Generation: generation.stateMachine,
        Webhooks: webhookDelivery.stateMachine,
        Expiry: expiry.stateMachine,
        VerifyLedgers: verifyLedgers.stateMachine,
      },
    }).after(httpApi.api.deploymentStage, ...reconciler.rules, ledgers.rule);

    const task = { ...generation.tasks, ...expiry.tasks, ...webhookDelivery.tasks, ...verifyLedgers.tasks };
    const functions = groupFunctions(endpoints, task, reconciler, clipMeasuring);
    bindTable(dataStore, functions);
    bindFiles(dataStore, functions);
    bindCalls({ secrets, fileDelivery, httpApi, clipMeasuring, context }, functions);
    bindExecutions({ generation, expiry, webhookDelivery, reconciler }, functions);
    bindSettings(settings, functions);
    if (canary) {
      httpApi.bindBaseUrl([canary.runCanary]);
      settings.bind([canary.runCanary], 'USER_AGENT');
    }
    for (const [name, executions] of namedEntries(context.reservedConcurrency ?? {})) {
      functions.all[name]?.reserveConcurrency(executions);
    }

    if (context.exportBucket !== undefined) {
      const { exportBucket: bucketName, exportBucketOwner: bucketOwner } = context;
      new TableExport(this, 'TableExport', { table, bucketName, bucketOwner, topic: monitoring.topic });
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
      providers: secrets.accounts.map(({ id: account }) => account),
      table,
      stateMachines: {
        generation: generation.stateMachine,
        'webhook-delivery': webhookDelivery.stateMachine,
        'verify-ledgers': verifyLedgers.stateMachine,
        expiry: expiry.stateMachine,
      },
      functions: [...Object.values(functions.all), ...(canary ? [canary.runCanary] : [])],
    });

    addOutputs(this, {
      context,
      commit,
      httpApi,
      dataStore,
      secrets,
      sandbox,
      canary,
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
