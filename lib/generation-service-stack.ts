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
    const service = createCapabilities(this, { bundleOf, context });
    const monitoring = monitor(this, context, service);
    const { canary: model } = context;
    const canary =
      model === undefined
        ? undefined
        : new Canary(this, 'Canary', { bundleOf, model, alarm: monitoring.alarm });
    addStopper(this, bundleOf, service);
    const functions = bindFunctions(service, context, settings);
    if (canary) {
      service.httpApi.bindBaseUrl([canary.runCanary]);
      settings.bind([canary.runCanary], 'USER_AGENT');
    }
    for (const [name, executions] of namedEntries(context.reservedConcurrency ?? {})) {
      functions.all[name]?.reserveConcurrency(executions);
    }
    addOptions(this, context, service, monitoring);
    for (const construct of this.node.findAll()) {
      if (construct instanceof CfnLogGroup) construct.retentionInDays = context.logRetentionDays;
      if (construct instanceof ServiceFunction && context.tracing) construct.trace();
    }
    addDashboard(this, service, [...Object.values(functions.all), ...(canary ? [canary.runCanary] : [])]);
    const verifyLedgers = service.ledgers.workflow;
    addOutputs(this, { ...service, context, commit, canary, settings, monitoring, verifyLedgers });
  }
}

/** The capabilities of every service, whatever its context. */
const createCapabilities = (
  stack: Stack,
  { bundleOf, context }: Pick<GenerationServiceStackProps, 'bundleOf' | 'context'>,
) => {
  const dataStore = new DataStore(stack, 'DataStore', context);
  const sandbox =
    context.providers === 'sandbox' ? new SandboxProviders(stack, 'Sandbox', bundleOf, context) : undefined;
  const secrets = new ProviderSecrets(stack, 'ProviderSecrets', context, sandbox);
  const httpApi = new HttpApi(stack, 'HttpApi', context);
  const { bucket } = dataStore;
  const fileDelivery = new FileDelivery(stack, 'Delivery', { bundleOf, context, bucket, httpApi });
  httpApi.addErrors(fileDelivery.referenceUrl);
  new PublicPages(stack, 'PublicPages', {
    bundleOf,
    bucket,
    baseUrl: httpApi.baseUrl,
    hasConsole: context.console,
  });
  const endpoints = new ApiEndpoints(stack, 'Api', bundleOf, context);
  httpApi.addRoutes(endpoints.routes, endpoints.openAi?.['get-openai-model'].lambda);
  const clipMeasuring = new ClipMeasuring(stack, 'ClipMeasuring', bundleOf);
  const generation = new Workflow(stack, 'GenerationWorkflow', {
    bundleOf,
    context,
    ...generationDefinition(context.imageDeadlineSeconds),
  });
  const expiry = new Workflow(stack, 'ExpiryWorkflow', { bundleOf, context, ...EXPIRY_DEFINITION });
  const webhookDelivery = new Workflow(stack, 'WebhookWorkflow', {
    bundleOf,
    context,
    ...WEBHOOK_DELIVERY_DEFINITION,
  });
  const reconciler = new Reconciler(stack, 'Reconciler', { bundleOf, context, generation, webhookDelivery });
  const ledgers = new LedgerVerification(stack, 'LedgerVerification', { bundleOf, context });
  return {
    ...{ dataStore, sandbox, secrets, httpApi, fileDelivery, endpoints, clipMeasuring },
    ...{ generation, expiry, webhookDelivery, reconciler, ledgers },
  };
};

type Capabilities = ReturnType<typeof createCapabilities>;

const monitor = (stack: Stack, context: StackContext, service: Capabilities): Monitoring => {
  const { sandbox, secrets, httpApi, fileDelivery, endpoints, clipMeasuring } = service;
  const { generation, expiry, webhookDelivery, reconciler } = service;
  const monitoring = new Monitoring(stack, 'Monitoring', {
    ...{ context, table: service.dataStore.table, api: httpApi.api, generation, expiry, webhookDelivery },
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
  return monitoring;
};

/** Stops executions when their state machine is deleted or replaced, once nothing starts new executions. */
const addStopper = (
  stack: Stack,
  bundleOf: GenerationServiceStackProps['bundleOf'],
  { httpApi, generation, expiry, webhookDelivery, reconciler, ledgers }: Capabilities,
): void =>
  new ExecutionStopper(stack, 'ExecutionStopper', {
    bundleOf,
    stateMachines: {
      Generation: generation.stateMachine,
      Webhooks: webhookDelivery.stateMachine,
      Expiry: expiry.stateMachine,
      VerifyLedgers: ledgers.workflow.stateMachine,
    },
  }).after(httpApi.api.deploymentStage, ...reconciler.rules, ledgers.rule);

/** Gives every function its access and settings. Returns the functions by name. */
const bindFunctions = (
  { dataStore, secrets, fileDelivery, httpApi, endpoints, clipMeasuring, ...service }: Capabilities,
  context: StackContext,
  settings: Settings,
): ReturnType<typeof groupFunctions> => {
  const { generation, expiry, webhookDelivery, reconciler, ledgers } = service;
  const task = {
    ...{ ...generation.tasks, ...expiry.tasks, ...webhookDelivery.tasks },
    ...ledgers.workflow.tasks,
  };
  const functions = groupFunctions(endpoints, task, reconciler, clipMeasuring);
  bindTable(dataStore, functions);
  bindFiles(dataStore, functions);
  bindCalls({ secrets, fileDelivery, httpApi, clipMeasuring, context }, functions);
  bindExecutions({ generation, expiry, webhookDelivery, reconciler }, functions);
  bindSettings(settings, functions);
  return functions;
};

/** Adds what the context asks for: the export of the table, and the firewall of the API. */
const addOptions = (
  stack: Stack,
  context: StackContext,
  { dataStore, httpApi }: Capabilities,
  { topic }: Monitoring,
): void => {
  if (context.exportBucket !== undefined) {
    const { exportBucket: bucketName, exportBucketOwner: bucketOwner } = context;
    new TableExport(stack, 'TableExport', { table: dataStore.table, bucketName, bucketOwner, topic });
  }
  if (context.wafRequestsPer5Minutes !== undefined) {
    const requestsPer5Minutes = context.wafRequestsPer5Minutes;
    new WebAcl(stack, 'WebAcl', { api: httpApi.api, requestsPer5Minutes });
  }
};

const addDashboard = (
  stack: Stack,
  { dataStore, secrets, httpApi, generation, expiry, webhookDelivery, ledgers }: Capabilities,
  functions: readonly ServiceFunction[],
): void => {
  new Dashboard(stack, 'Dashboard', {
    api: httpApi.api,
    providers: secrets.accounts.map(({ id: account }) => account),
    table: dataStore.table,
    stateMachines: {
      generation: generation.stateMachine,
      'webhook-delivery': webhookDelivery.stateMachine,
      'verify-ledgers': ledgers.workflow.stateMachine,
      expiry: expiry.stateMachine,
    },
    functions,
  });
};
