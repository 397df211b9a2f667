import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { LISTING_INDEX, OUTPUT_PREFIX, REQUEST_INDEXES } from '../core/keys.ts';
import { ApiEndpoints } from './api-endpoints.ts';
import type { StackContext } from './context.ts';
import { DataStore } from './data-store.ts';
import { Delivery } from './delivery.ts';
import { GenerationWorkflow } from './generation-workflow.ts';
import { HttpApi } from './http-api.ts';
import { ProviderSecrets } from './provider-secrets.ts';
import type { ServiceFunction } from './service-function.ts';

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

    const workflow = new GenerationWorkflow(this, 'GenerationWorkflow', {
      bundleOf,
      imageDeadlineSeconds: context.imageDeadlineSeconds,
      environment: tableAccess,
    });
    const watching = {
      IMAGE_DEADLINE_SECONDS: String(context.imageDeadlineSeconds),
      POLL_INTERVAL_SECONDS: String(context.pollIntervalSeconds),
    } as const;
    workflow.dispatchRequest.addEnvironment({ ...providerAccess, ...watching });
    workflow.pollProvider.addEnvironment({ ...providerAccess, ...watching });
    workflow.storeOutputs.addEnvironment({ BUCKET_NAME: dataStore.bucket.bucketName, ...targets });
    workflow.settleRequest.addEnvironment({
      ...ending,
      OUTPUT_TTL_SECONDS: String(context.outputTtlSeconds),
    });
    workflow.failRequest.addEnvironment(ending);

    const endpoints = new ApiEndpoints(this, 'Api', { bundleOf, environment: tableAccess });
    const api = endpoints.functions;
    httpApi.addRoutes(endpoints.routes);
    const reading = {
      PUBLIC_BASE_URL: httpApi.baseUrl,
      DELIVERY_BASE_URL: delivery.baseUrl,
      DELIVERY_KEY_PAIR_ID: delivery.keyPairId,
      DELIVERY_KEY_SECRET_ARN: delivery.signingKey.secretArn,
    } as const;
    api['create-generation'].addEnvironment({
      ...providerAccess,
      ...targets,
      ...ending,
      PUBLIC_BASE_URL: httpApi.baseUrl,
      GENERATION_STATE_MACHINE_ARN: workflow.stateMachine.stateMachineArn,
    });
    api['get-generation'].addEnvironment(reading);
    api['list-generations'].addEnvironment(reading);
    api['list-models'].addEnvironment(providerAccess);
    const deleting = [api['delete-generation'], api['bulk-delete-generations'], api['delete-end-user']];
    for (const endpoint of deleting) endpoint.addEnvironment({ BUCKET_NAME: dataStore.bucket.bucketName });

    const allow = (to: readonly ServiceFunction[], actions: string[], resources: string[]): void => {
      for (const { lambda } of to) lambda.addToRolePolicy(new PolicyStatement({ actions, resources }));
    };
    const onTable = (to: readonly ServiceFunction[], ...operations: string[]): void =>
      allow(
        to,
        operations.map((operation) => `dynamodb:${operation}`),
        [dataStore.table.tableArn],
      );
    const onIndexes = (to: ServiceFunction, names: readonly string[]): void =>
      allow(
        [to],
        ['dynamodb:Query'],
        names.map((name) => `${dataStore.table.tableArn}/index/${name}`),
      );
    // Every endpoint looks up the account and the key, which counts the request: an update.
    onTable(Object.values(api), 'GetItem', 'UpdateItem');
    onTable([api['create-generation']], 'BatchGetItem', 'PutItem');
    onTable([api['list-generations'], api['list-end-users']], 'BatchGetItem');
    onTable([api['list-models'], api['list-balance-history']], 'Query');
    onTable(deleting, 'Query', 'DeleteItem', 'BatchWriteItem');
    onIndexes(
      api['list-generations'],
      Object.values(REQUEST_INDEXES).map(({ name }) => name),
    );
    onIndexes(api['list-end-users'], [LISTING_INDEX.name]);
    onIndexes(api['delete-end-user'], [REQUEST_INDEXES.byEndUser.name]);
    const { dispatchRequest, pollProvider, storeOutputs, settleRequest, failRequest } = workflow;
    onTable(workflow.tasks, 'GetItem', 'UpdateItem');
    onTable([dispatchRequest, pollProvider, storeOutputs], 'Query');
    onTable([dispatchRequest, settleRequest, failRequest], 'PutItem');

    const outputs = [dataStore.bucket.arnForObjects(`${OUTPUT_PREFIX}*`)];
    allow([storeOutputs], ['s3:PutObject', 's3:AbortMultipartUpload'], outputs);
    allow(deleting, ['s3:DeleteObject'], outputs);
    const providerKeys = secrets.all.map(({ secretArn }) => secretArn);
    allow([api['create-generation'], api['list-models']], ['secretsmanager:DescribeSecret'], providerKeys);
    allow([dispatchRequest, pollProvider], ['secretsmanager:GetSecretValue'], providerKeys);
    allow(
      [api['get-generation'], api['list-generations']],
      ['secretsmanager:GetSecretValue'],
      [delivery.signingKey.secretArn],
    );
    allow([api['create-generation']], ['states:StartExecution'], [workflow.stateMachine.stateMachineArn]);
    if (context.guardrailId !== undefined) {
      api['create-generation'].addEnvironment({
        GUARDRAIL_ID: context.guardrailId,
        GUARDRAIL_VERSION: context.guardrailVersion,
      });
      const guardrail = this.formatArn({
        service: 'bedrock',
        resource: 'guardrail',
        resourceName: context.guardrailId,
      });
      allow([api['create-generation']], ['bedrock:ApplyGuardrail'], [guardrail]);
    }

    const output = (name: string, value: string) => new CfnOutput(this, name, { value });
    output('BaseUrl', httpApi.baseUrl);
    output('TableName', dataStore.table.tableName);
    output('BucketName', dataStore.bucket.bucketName);
    output('GenerationStateMachineArn', workflow.stateMachine.stateMachineArn);
    output('ModelRoutes', providerAccess.MODEL_ROUTES);
    output('ModelArkSecretName', secrets.modelArk.secretName);
    output('ModelStudioSecretName', secrets.modelStudio.secretName);
  }
}
