import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ofType, policiesOf, type Resource, synthesizeService } from './service-template.ts';

/**
 * Resources that hold data or keys, and those called by their ARN: by running executions and CloudFormation. Each type has the properties that CloudFormation replaces it for, or refuses to change. A dot leads into an object. From the resources' references: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/
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
  'AWS::Events::Rule': ['Name', 'EventBusName'],
  'AWS::Lambda::Function': ['FunctionName', 'PackageType'],
  'AWS::S3::Bucket': ['BucketName'],
  'AWS::SecretsManager::Secret': ['Name'],
  'AWS::SNS::Topic': ['TopicName', 'FifoTopic'],
  'AWS::StepFunctions::StateMachine': ['StateMachineName', 'StateMachineType'],
  // A custom resource is replaced when its function answers with another id, here the secret's.
  'Custom::DeliveryKeyPair': ['ServiceToken', 'SecretArn'],
  'Custom::PublicPages': ['ServiceToken'],
  'Custom::RunningExecutions': ['ServiceToken', 'StateMachineArn'],
};

const at = (resource: Resource, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], resource.Properties);

/**
 * The functions called by their ARN: those of tasks and of custom resources. An update replaces any other function
 * together with its callers.
 */
const isCalledByArn = (logicalId: string): boolean =>
  /Workflow|^DeliveryCreateSigningKey|^PublicPagesPublish|^ExecutionStopper/.test(logicalId);

type Held = Record<string, Record<string, Record<string, unknown>>>;

/** By type, then by logical id: the properties. */
const held = async (): Promise<Held> => {
  const { resources } = await synthesizeService();
  const propertiesOf = (resource: Resource, paths: string[]) =>
    Object.fromEntries(
      paths.flatMap((path) => {
        const value = at(resource, path);
        return value === undefined ? [] : [[path, value]];
      }),
    );
  return Object.fromEntries(
    Object.entries(REPLACING).map(([type, paths]) => [
      type,
      Object.fromEntries(
        ofType(resources, type)
          .filter(([logicalId]) => type !== 'AWS::Lambda::Function' || isCalledByArn(logicalId))
          .map(([logicalId, resource]) => [logicalId, propertiesOf(resource, paths)]),
      ),
    ]),
  );
};

const committed: Held = JSON.parse(readFileSync(new URL('never-replaced.json', import.meta.url), 'utf8'));

test('no upgrade replaces or removes what holds data or is called by its ARN: compare test/infra/never-replaced.json', async () => {
  // A changed line in this list deletes what the resource holds, breaks the resource's callers, or fails the upgrade.
  // A new resource is a new line.
  expect(await held()).toEqual(committed);
});

test('every custom resource is among them', async () => {
  const { resources } = await synthesizeService();
  const types = Object.values(resources).flatMap(({ Type }) => (Type.startsWith('Custom::') ? [Type] : []));

  expect(Object.keys(REPLACING)).toEqual(expect.arrayContaining(types));
});

/** Logical ids of the functions that a state machine may call. */
const calledBy = async () => {
  const { resources } = await synthesizeService();
  const machines = ofType(resources, 'AWS::StepFunctions::StateMachine').map(
    ([, { Properties }]) => Properties.RoleArn['Fn::GetAtt'][0],
  );
  return machines
    .flatMap((role) => policiesOf(resources, role))
    .flatMap(({ statements }) => statements)
    .filter(({ Action }) => Action === 'lambda:InvokeFunction')
    .flatMap(({ Resource }) =>
      [Resource as { 'Fn::GetAtt': [string] }].flat().map((arn) => arn['Fn::GetAtt'][0]),
    );
};

// CONTRIBUTING.md says how to rename or remove one. It leaves this list with the release after.
test('each task function may be called by its state machine', async () => {
  const tasks = Object.keys(committed['AWS::Lambda::Function'] ?? {}).filter((id) => /Workflow/.test(id));

  expect(tasks).toHaveLength(12);
  expect(await calledBy()).toEqual(expect.arrayContaining(tasks));
});
