import { CfnOutput } from 'aws-cdk-lib';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { namesOfProvider } from '../core/provider-names.ts';
import type { Canary } from './canary.ts';
import type { StackContext } from './context.ts';
import type { DataStore } from './data-store.ts';
import type { FileDelivery } from './file-delivery.ts';
import type { HttpApi } from './http-api.ts';
import { dataOf } from './own-models.ts';
import type { ProviderSecrets } from './provider-secrets.ts';
import { VERSION } from './release.ts';
import type { SandboxProviders } from './sandbox-providers.ts';
import type { ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';

interface Capabilities {
  context: Pick<StackContext, 'console' | 'models' | 'openaiWaitingInAll'>;
  /** Of the sources, when it is known. */
  commit: string | undefined;
  httpApi: HttpApi;
  fileDelivery: FileDelivery;
  dataStore: DataStore;
  secrets: ProviderSecrets;
  sandbox: SandboxProviders | undefined;
  canary: Canary | undefined;
  settings: Settings;
  monitoring: { topic: Topic };
  generation: { stateMachine: StateMachine };
  expiry: { stateMachine: StateMachine };
  webhookDelivery: { stateMachine: StateMachine; tasks: { 'deliver-webhook': ServiceFunction } };
  verifyLedgers: { stateMachine: StateMachine };
}

/** Adds the outputs of the stack. The operators' command line and the local run find the service by them. */
export const addOutputs = (stack: Construct, service: Capabilities): void => {
  const { httpApi, fileDelivery, dataStore, secrets, sandbox, settings, monitoring } = service;
  const { generation, expiry, webhookDelivery, verifyLedgers } = service;
  const output = (name: string, value: string) => new CfnOutput(stack, name, { value });
  output('Version', VERSION);
  if (service.commit !== undefined) output('Commit', service.commit);
  output('BaseUrl', httpApi.baseUrl);
  // Where the DNS records of custom domains point.
  if (httpApi.domain) output('ApiDomainTarget', httpApi.domain.domainNameAliasDomainName);
  output('FilesDomainTarget', fileDelivery.distributionDomain);
  output('ReferenceUrl', fileDelivery.referenceUrl);
  if (service.context.console) output('ConsoleUrl', `${fileDelivery.baseUrl}/console`);
  output('TableName', dataStore.table.tableName);
  output('BucketName', dataStore.bucket.bucketName);
  output('GenerationStateMachineArn', generation.stateMachine.stateMachineArn);
  output('ExpiryStateMachineArn', expiry.stateMachine.stateMachineArn);
  output('WebhookDeliveryStateMachineArn', webhookDelivery.stateMachine.stateMachineArn);
  output('DeliverWebhookFunctionArn', webhookDelivery.tasks['deliver-webhook'].lambda.functionArn);
  output('VerifyLedgersStateMachineArn', verifyLedgers.stateMachine.stateMachineArn);
  output('ModelRoutes', secrets.modelRoutes);
  const { models } = service.context;
  if (models.length > 0) output('OwnModels', JSON.stringify(dataOf(models)));
  for (const { id, baseUrl, apiKey } of secrets.accounts) {
    const { baseUrlOutput, secretOutput } = namesOfProvider(id);
    output(baseUrlOutput, baseUrl);
    output(secretOutput, apiKey.secretName);
  }
  output('CallbackSecretName', secrets.callbacks.secretName);
  const { variables } = settings;
  output('ImageDeadlineSeconds', variables.IMAGE_DEADLINE_SECONDS);
  output('VideoDeadlineSeconds', variables.VIDEO_DEADLINE_SECONDS);
  output('WebhookRetrySeconds', variables.WEBHOOK_RETRY_SECONDS);
  if (service.context.openaiWaitingInAll !== undefined) {
    output('OpenaiWaitingInAll', variables.OPENAI_WAITING_IN_ALL);
  }
  if (sandbox) output('SandboxUrl', sandbox.url);
  if (service.canary) output('CanaryKeySecretName', service.canary.apiKey.secretName);
  output('AlarmTopicArn', monitoring.topic.topicArn);
};
