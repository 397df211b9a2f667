import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { LocalRunParts } from '../../../local/run.ts';
import { createFakes as createAwsFakes } from '../../../packages/local-aws/test/gateway/a-fake-run.ts';

const secret = (name: string) => ({ Type: 'AWS::SecretsManager::Secret', Properties: { Name: name } });

const stateMachine = {
  Type: 'AWS::StepFunctions::StateMachine',
  Properties: { DefinitionString: '{}', RoleArn: 'none' },
};

/** A template with what `local/` reads, and a REST API without routes. */
const TEMPLATE = {
  Resources: {
    Table: { Type: 'AWS::DynamoDB::Table', Properties: { KeySchema: [], AttributeDefinitions: [] } },
    Outputs: { Type: 'AWS::S3::Bucket' },
    ModelArkKey: secret('ModelArkKey-0123456789ab'),
    ModelStudioKey: secret('service/model-studio-key'),
    SigningKey: secret('SigningKey-0123456789ab'),
    Flow: stateMachine,
    Expiry: stateMachine,
    WebhookDelivery: stateMachine,
    Api: { Type: 'AWS::ApiGateway::RestApi' },
  },
  Outputs: {
    TableName: { Value: { Ref: 'Table' } },
    BucketName: { Value: { Ref: 'Outputs' } },
    ModelArkSecretName: { Value: 'ModelArkKey-0123456789ab' },
    ModelStudioSecretName: { Value: 'service/model-studio-key' },
    GenerationStateMachineArn: { Value: { Ref: 'Flow' } },
    ExpiryStateMachineArn: { Value: { Ref: 'Expiry' } },
    WebhookDeliveryStateMachineArn: { Value: { Ref: 'WebhookDelivery' } },
  },
};

const MANIFEST = {
  artifacts: { Service: { type: 'aws:cloudformation:stack', properties: { templateFile: 'template.json' } } },
};

/** Stand-ins for the parts of a local run. `story` lists what happened to them, in order; `seen` holds what they were given. */
export const createFakes = (dataDir: string, storedSecret?: string) => {
  const { story, seen: seenOfAws, parts: partsOfAws } = createAwsFakes(storedSecret);
  const seen = Object.assign(seenOfAws, { context: {} as Record<string, unknown> });
  const parts: LocalRunParts = {
    ...partsOfAws,
    startSandbox: async () => {
      story.push('sandbox');
      return { url: 'http://127.0.0.1:9', close: async () => void story.push('sandbox closed') };
    },
    synthesize: async (outputDirectory, context) => {
      story.push('synthesis');
      seen.context = context;
      mkdirSync(outputDirectory, { recursive: true });
      writeFileSync(join(outputDirectory, 'manifest.json'), JSON.stringify(MANIFEST));
      writeFileSync(join(outputDirectory, 'template.json'), JSON.stringify(TEMPLATE));
    },
    createFirstAccount: async (directory) => {
      story.push('account');
      expect(JSON.parse(readFileSync(join(directory, 'local.json'), 'utf8'))).toMatchObject({
        pid: process.pid,
        operatorAccessKeyId: expect.stringMatching(/^AKIA/),
        awsEndpointUrl: expect.stringMatching(/^http/),
      });
      expect(existsSync(join(dataDir, 'local.json'))).toBe(false);
      return { accountId: 'acc_1', apiKey: 'gsk_1', webhookSecret: 'whsec_1' };
    },
  };
  return { story, seen, parts };
};
