import { ArnFormat, CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import {
  accountPartition,
  LISTING_INDEX,
  OUTPUT_PREFIX,
  REQUEST_INDEXES,
  requestPartition,
} from '../core/table/keys.ts';
import { ApiEndpoints } from './api-endpoints.ts';
import type { StackContext } from './context.ts';
import { DataStore } from './data-store.ts';
import { Delivery } from './delivery.ts';
import { ExpiryWorkflow } from './expiry-workflow.ts';
import { GenerationWorkflow } from './generation-workflow.ts';
import { allow, allowLater, allowOnIndexes, allowOnItems, allowOnTable } from './grants.ts';
import { HttpApi } from './http-api.ts';
import { Monitoring } from './monitoring.ts';
import { ProviderSecrets } from './provider-secrets.ts';
import { Reconciler } from './reconciler.ts';
import type { ServiceFunction } from './service-function.ts';
import { WebhookWorkflow } from './webhook-workflow.ts';

export interface GenerationServiceStackProps extends StackProps {
  context: StackContext;
  /** The folder of a function's bundle, by the function's name. */
  bundleOf: (name: string) => string;
}

/** The whole service: composes its capabilities and lists who may do what. */
export class GenerationServiceStack extends Stack {
  constructor(scope: Construct, id: string, { context, bundleOf, ...props }: GenerationServiceStackProps) {
    super(scope, id, props);
    const dataStore = new DataStore(this, 'DataStore', { outputTtlSeconds: context.outputTtlSeconds });
    const secrets = new ProviderSecrets(this, 'ProviderSecrets');
    const delivery = new Delivery(this, 'Delivery', {
      bucket: dataStore.bucket,
      bundleOf,
      baseUrl: context.deliveryBaseUrl,
    });
    const httpApi = new HttpApi(this, 'HttpApi', { publicBaseUrl: context.publicBaseUrl });

    const tableAccess = { TABLE_NAME: dataStore.table.tableName } as const;
    const ending = {
      RETENTION_DAYS: String(context.retentionDays),
      PAUSE_SECONDS: String(context.pauseSeconds),
    } as const;
    const providerAccess = {
      MODEL_ROUTES: this.toJsonString(context.modelRoutes),
      MODELARK_BASE_URL: context.modelArkBaseUrl,
      MODELARK_SECRET_ARN: secrets.modelArk.secretArn,
      MODELSTUDIO_BASE_URL: context.modelStudioBaseUrl,
      MODELSTUDIO_SECRET_ARN: secrets.modelStudio.secretArn,
    } as const;
    const targets = { ALLOW_PRIVATE_TARGETS: String(context.allowPrivateTargets) } as const;

    const callbackAccess = {
      PUBLIC_BASE_URL: httpApi.baseUrl,
      CALLBACK_SECRET_ARN: secrets.callbacks.secretArn,
    } as const;
    const reading = {
      PUBLIC_BASE_URL: httpApi.baseUrl,
      FILE_DELIVERY_BASE_URL: delivery.baseUrl,
      FILE_DELIVERY_KEY_PAIR_ID: delivery.keyPairId,
      FILE_DELIVERY_KEY_SECRET_ARN: delivery.signingKey.secretArn,
    } as const;
    const files = { BUCKET_NAME: dataStore.bucket.bucketName } as const;

    const workflow = new GenerationWorkflow(this, 'GenerationWorkflow', {
      bundleOf,
      imageDeadlineSeconds: context.imageDeadlineSeconds,
      environment: tableAccess,
    });
    const expiry = new ExpiryWorkflow(this, 'ExpiryWorkflow', {
      bundleOf,
      environment: { ...tableAccess, ...files },
    });
    const webhooks = new WebhookWorkflow(this, 'WebhookWorkflow', {
      bundleOf,
      environment: {
        ...tableAccess,
        ...targets,
        ...reading,
        WEBHOOK_RETRY_SECONDS: context.webhookRetrySeconds,
      },
    });
    const watching = {
      IMAGE_DEADLINE_SECONDS: String(context.imageDeadlineSeconds),
      VIDEO_DEADLINE_SECONDS: String(context.videoDeadlineSeconds),
      POLL_INTERVAL_SECONDS: String(context.pollIntervalSeconds),
    } as const;
    const owning = { GENERATION_STATE_MACHINE_ARN: workflow.stateMachine.stateMachineArn } as const;
    const following = {
      EXPIRY_STATE_MACHINE_ARN: expiry.stateMachine.stateMachineArn,
      WEBHOOK_DELIVERY_STATE_MACHINE_ARN: webhooks.stateMachine.stateMachineArn,
    } as const;
    const lasting = { OUTPUT_TTL_SECONDS: String(context.outputTtlSeconds) } as const;
    const reconciler = new Reconciler(this, 'Reconciler', {
      bundleOf,
      environment: {
        ...tableAccess,
        ...files,
        ...providerAccess,
        ...owning,
        ...following,
        ...ending,
        ...lasting,
        CALLBACK_WAIT_SECONDS: String(context.callbackWaitSeconds),
      },
      intervalSeconds: context.reconcileIntervalSeconds,
      watched: { Generation: workflow.stateMachine, Expiry: expiry.stateMachine },
    });
    const { dispatchRequest, awaitProvider, queryProvider, storeOutputs, settleRequest, failRequest } =
      workflow;
    const { expireRequest } = expiry;
    const { deliverWebhook } = webhooks;
    const { reconcile } = reconciler;
    dispatchRequest.addEnvironment({ ...providerAccess, ...watching, ...callbackAccess });
    awaitProvider.addEnvironment(providerAccess);
    queryProvider.addEnvironment({ ...providerAccess, ...watching });
    storeOutputs.addEnvironment({ ...files, ...targets });
    settleRequest.addEnvironment({ ...ending, ...following, ...lasting });
    failRequest.addEnvironment({ ...ending, ...following, ...files });

    const endpoints = new ApiEndpoints(this, 'Api', { bundleOf, environment: tableAccess });
    const api = endpoints.functions;
    httpApi.addRoutes(endpoints.routes);
    const creating = [api['create-generation'], api['create-video']];
    for (const endpoint of creating) {
      endpoint.addEnvironment({ ...providerAccess, ...targets, ...owning, PUBLIC_BASE_URL: httpApi.baseUrl });
    }
    const rendering = [api['get-generation'], api['get-video'], api['list-generations']];
    for (const endpoint of rendering) endpoint.addEnvironment(reading);
    api['get-video'].addEnvironment(providerAccess);
    api['list-models'].addEnvironment(providerAccess);
    api['receive-callback'].addEnvironment({
      ...providerAccess,
      CALLBACK_SECRET_ARN: secrets.callbacks.secretArn,
    });
    const deleting = [api['delete-generation'], api['bulk-delete-generations'], api['delete-end-user']];
    for (const endpoint of deleting) endpoint.addEnvironment(files);

    const { table } = dataStore;
    const onTable = (to: readonly ServiceFunction[], ...operations: string[]): void =>
      allowOnTable(table, to, ...operations);
    // Every endpoint looks up the account and the key, which counts the request: an update.
    onTable(Object.values(api), 'GetItem', 'UpdateItem');
    onTable(creating, 'BatchGetItem', 'PutItem');
    onTable([api['list-generations'], api['list-end-users']], 'BatchGetItem');
    onTable([api['list-models'], api['list-balance-history']], 'Query');
    onTable(deleting, 'Query', 'DeleteItem', 'PutItem', 'BatchWriteItem');
    onTable([reconcile], 'BatchWriteItem');
    allowOnIndexes(
      table,
      api['list-generations'],
      Object.values(REQUEST_INDEXES).map(({ name }) => name),
    );
    allowOnIndexes(table, api['list-end-users'], [LISTING_INDEX.name]);
    allowOnIndexes(table, api['delete-end-user'], [REQUEST_INDEXES.byEndUser.name]);
    allowOnIndexes(table, reconcile, [LISTING_INDEX.name]);
    onTable([...workflow.tasks, expireRequest, reconcile], 'GetItem', 'UpdateItem');
    const asking = [awaitProvider, queryProvider, api['get-video'], api['receive-callback'], reconcile];
    onTable([dispatchRequest, storeOutputs, ...asking], 'Query');
    onTable([dispatchRequest, settleRequest, failRequest, reconcile], 'PutItem');

    // The sender calls addresses that others gave: it reaches the request, its account and nothing else.
    allowOnItems(table, deliverWebhook, ['GetItem'], [requestPartition('*'), accountPartition('*')]);
    allowOnItems(table, deliverWebhook, ['Query', 'PutItem'], [requestPartition('*')]);

    const outputs = [dataStore.bucket.arnForObjects(`${OUTPUT_PREFIX}*`)];
    allow([storeOutputs], ['s3:PutObject', 's3:AbortMultipartUpload', 's3:GetObject'], outputs);
    allow([...deleting, storeOutputs, failRequest, reconcile, expireRequest], ['s3:DeleteObject'], outputs);
    allow(
      [...deleting, failRequest, reconcile, expireRequest],
      ['s3:ListBucket'],
      [dataStore.bucket.bucketArn],
    );

    const providerKeys = secrets.ofProviders.map(({ secretArn }) => secretArn);
    allow([...creating, api['list-models']], ['secretsmanager:DescribeSecret'], providerKeys);
    allow([dispatchRequest, ...asking], ['secretsmanager:GetSecretValue'], providerKeys);
    allow(
      [dispatchRequest, api['receive-callback']],
      ['secretsmanager:GetSecretValue'],
      [secrets.callbacks.secretArn],
    );
    allow([...rendering, deliverWebhook], ['secretsmanager:GetSecretValue'], [delivery.signingKey.secretArn]);

    const generation = workflow.stateMachine;
    allow([...creating, reconcile], ['states:StartExecution'], [generation.stateMachineArn]);
    allow(
      [settleRequest, failRequest, reconcile],
      ['states:StartExecution'],
      [expiry.stateMachine.stateMachineArn, webhooks.stateMachine.stateMachineArn],
    );
    const wake = ['states:SendTaskSuccess', 'states:SendTaskHeartbeat'];
    allow([api['get-video'], api['receive-callback'], reconcile], wake, [generation.stateMachineArn]);
    allowLater(this, 'AwaitProviderWakes', awaitProvider, {
      actions: wake,
      resources: [generation.stateMachineArn],
    });
    allow([reconcile], ['states:ListExecutions'], [generation.stateMachineArn]);
    allow([reconcile], ['states:DescribeExecution'], [this.executionsOf(generation)]);
    if (context.guardrailId !== undefined)
      this.addGuardrail(creating, context.guardrailId, context.guardrailVersion);

    const monitoring = new Monitoring(this, 'Monitoring', {
      bundleOf,
      environment: { ...tableAccess, RETENTION_DAYS: String(context.retentionDays) },
      api: httpApi.api,
      generation,
      expiry: expiry.stateMachine,
      alarmEmail: context.alarmEmail,
    });
    onTable([monitoring.verifyLedger], 'GetItem', 'BatchGetItem', 'Query');
    const read = [LISTING_INDEX.name, REQUEST_INDEXES.byAccount.name];
    allowOnIndexes(table, monitoring.verifyLedger, read);

    const output = (name: string, value: string) => new CfnOutput(this, name, { value });
    output('BaseUrl', httpApi.baseUrl);
    output('TableName', table.tableName);
    output('BucketName', dataStore.bucket.bucketName);
    output('GenerationStateMachineArn', generation.stateMachineArn);
    output('ExpiryStateMachineArn', expiry.stateMachine.stateMachineArn);
    output('WebhookDeliveryStateMachineArn', webhooks.stateMachine.stateMachineArn);
    output('ModelRoutes', providerAccess.MODEL_ROUTES);
    output('ModelArkSecretName', secrets.modelArk.secretName);
    output('ModelStudioSecretName', secrets.modelStudio.secretName);
    output('RetentionDays', ending.RETENTION_DAYS);
  }

  private executionsOf({ stateMachineName }: StateMachine): string {
    return this.formatArn({
      service: 'states',
      resource: 'execution',
      resourceName: `${stateMachineName}:*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
  }

  private addGuardrail(creating: readonly ServiceFunction[], id: string, version: string): void {
    for (const endpoint of creating)
      endpoint.addEnvironment({ GUARDRAIL_ID: id, GUARDRAIL_VERSION: version });
    const guardrail = this.formatArn({ service: 'bedrock', resource: 'guardrail', resourceName: id });
    allow(creating, ['bedrock:ApplyGuardrail'], [guardrail]);
  }
}
