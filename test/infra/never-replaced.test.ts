import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ofType, type Resource, synthesizeService } from './service-template.ts';

/**
 * Resources that hold what cannot be made again, and the properties whose change makes CloudFormation replace them, or is refused. A
 * dot leads into an object. From the resources' references: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/
 */
const REPLACING: Record<string, string[]> = {
  'AWS::ApiGateway::RestApi': [],
  'AWS::ApiGateway::Stage': ['RestApiId', 'StageName'],
  'AWS::CloudFront::Distribution': [],
  'AWS::CloudFront::KeyGroup': [],
  // CloudFront changes nothing of a public key but its comment.
  'AWS::CloudFront::PublicKey': [
    'PublicKeyConfig.CallerReference',
    'PublicKeyConfig.EncodedKey',
    'PublicKeyConfig.Name',
  ],
  'AWS::DynamoDB::Table': ['TableName', 'KeySchema', 'LocalSecondaryIndexes'],
  'AWS::S3::Bucket': ['BucketName'],
  'AWS::SecretsManager::Secret': ['Name'],
  'AWS::SNS::Topic': ['TopicName', 'FifoTopic'],
  'AWS::StepFunctions::StateMachine': ['StateMachineName', 'StateMachineType'],
  // A custom resource is replaced when its function answers with another id, here the secret's.
  'Custom::DeliveryKeyPair': ['ServiceToken', 'SecretArn'],
};

const at = (resource: Resource, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], resource.Properties);

const held = async () => {
  const { resources } = await synthesizeService();
  return Object.fromEntries(
    Object.entries(REPLACING)
      .flatMap(([type, properties]) => ofType(resources, type).map((entry) => [entry, properties] as const))
      .map(([[logicalId, resource], properties]) => [
        logicalId,
        {
          Type: resource.Type,
          ...Object.fromEntries(
            properties.flatMap((path) => {
              const value = at(resource, path);
              return value === undefined ? [] : [[path, value]];
            }),
          ),
        },
      ]),
  );
};

test('no upgrade replaces table, bucket, keys, secrets, API or state machines: compare test/infra/never-replaced.json', async () => {
  const committed = JSON.parse(readFileSync(new URL('never-replaced.json', import.meta.url), 'utf8'));

  // A line that changes here deletes what the resource holds, or fails the upgrade. A new resource is a new line.
  expect(await held()).toEqual(committed);
});
