import { createHash } from 'node:crypto';
import { TemplateError, type TemplateResource } from './assembly.ts';

/** The partition, region and account in every local ARN. */
export const PARTITION = 'aws';
export const REGION = 'us-east-1';
export const ACCOUNT_ID = '000000000000';
export const URL_SUFFIX = 'amazonaws.com';

/** `length` characters from the alphabet, the same for the same seed. Stands in for a random id of AWS. */
export const stableText = (seed: string, length: number, alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789') =>
  Array.from(
    createHash('sha512').update(seed).digest().subarray(0, length),
    (byte) => alphabet[byte % alphabet.length],
  ).join('');

const UPPER_CASE_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** A resource with its physical name. */
interface NamedResource {
  logicalId: string;
  name: string;
}

interface ResourceModel {
  /** The property that names the resource. */
  nameProperty?: string;
  /** The physical name if the template gives none. Default: the logical id. */
  defaultName?: (logicalId: string) => string;
  /** The value of `Ref`. Default: the physical name. */
  ref?: (resource: NamedResource) => string;
  attributes?: Record<string, (resource: NamedResource) => string>;
}

const arn = (service: string, resource: string, region = REGION, account = ACCOUNT_ID) =>
  `arn:${PARTITION}:${service}:${region}:${account}:${resource}`;

/** An attribute that is the ARN of the resource. */
const arnOf = (service: string, prefix: string, region = REGION) => ({
  Arn: ({ name }: NamedResource) => arn(service, `${prefix}${name}`, region),
});

const secretArn = ({ name }: NamedResource) =>
  arn('secretsmanager', `secret:${name}-${stableText(`secret:${name}`, 6)}`);
const stateMachineArn = ({ name }: NamedResource) => arn('states', `stateMachine:${name}`);
const topicArn = ({ name }: NamedResource) => arn('sns', name);
const subscriptionArn = ({ logicalId }: NamedResource) =>
  arn('sns', `${logicalId}:${stableText(logicalId, 8)}`);
const managedPolicyArn = ({ name }: NamedResource) => arn('iam', `policy/${name}`, '');
const tableModel: ResourceModel = {
  nameProperty: 'TableName',
  attributes: {
    ...arnOf('dynamodb', 'table/'),
    StreamArn: ({ name }) => arn('dynamodb', `table/${name}/stream/2026-01-01T00:00:00.000`),
    TableId: ({ name }) => stableText(`table:${name}`, 12),
  },
};
const drawnId =
  (length: number, prefix = '', alphabet?: string) =>
  (logicalId: string) =>
    `${prefix}${stableText(logicalId, length - prefix.length, alphabet)}`;
const cloudFrontId = (prefix: string): ResourceModel => ({
  defaultName: drawnId(14, prefix, UPPER_CASE_ALPHABET),
  attributes: { Id: ({ name }) => name },
});

/** Resource types with a special `Ref`, name or attributes, by service. */
const RESOURCE_MODELS: Record<string, ResourceModel> = {
  'AWS::ApiGateway::RestApi': {
    defaultName: drawnId(10),
    attributes: {
      RootResourceId: ({ logicalId }) => stableText(`${logicalId}/`, 10),
      RestApiId: ({ name }) => name,
    },
  },
  'AWS::ApiGateway::Resource': { defaultName: drawnId(6), attributes: { ResourceId: ({ name }) => name } },
  'AWS::ApiGateway::Deployment': {
    defaultName: drawnId(6),
    attributes: { DeploymentId: ({ name }) => name },
  },
  'AWS::ApiGateway::Stage': { nameProperty: 'StageName' },
  'AWS::CloudFront::Distribution': {
    defaultName: drawnId(14, 'E', UPPER_CASE_ALPHABET),
    attributes: {
      Id: ({ name }) => name,
      DomainName: ({ logicalId }) => `${drawnId(14, 'd')(logicalId)}.cloudfront.net`,
    },
  },
  'AWS::CloudFront::KeyGroup': cloudFrontId('G'),
  'AWS::CloudFront::OriginAccessControl': cloudFrontId('E'),
  'AWS::CloudFront::PublicKey': cloudFrontId('K'),
  'AWS::CloudFront::ResponseHeadersPolicy': cloudFrontId('R'),
  'AWS::CloudFront::CachePolicy': cloudFrontId('C'),
  'AWS::ApiGateway::DomainName': {
    nameProperty: 'DomainName',
    attributes: {
      RegionalDomainName: ({ name }) => `regional.${name}`,
      RegionalHostedZoneId: () => 'Z0LOCAL',
    },
  },
  'AWS::WAFv2::WebACL': { attributes: arnOf('wafv2', 'regional/webacl/') },
  'AWS::CloudWatch::Alarm': { nameProperty: 'AlarmName', attributes: arnOf('cloudwatch', 'alarm:') },
  'AWS::CloudWatch::CompositeAlarm': { nameProperty: 'AlarmName', attributes: arnOf('cloudwatch', 'alarm:') },
  'AWS::CloudWatch::Dashboard': { nameProperty: 'DashboardName' },
  'AWS::DynamoDB::GlobalTable': tableModel,
  'AWS::DynamoDB::Table': tableModel,
  'AWS::Events::Rule': { nameProperty: 'Name', attributes: arnOf('events', 'rule/') },
  'AWS::IAM::ManagedPolicy': {
    nameProperty: 'ManagedPolicyName',
    ref: managedPolicyArn,
    attributes: { PolicyArn: managedPolicyArn },
  },
  'AWS::IAM::Role': {
    nameProperty: 'RoleName',
    attributes: {
      ...arnOf('iam', 'role/', ''),
      RoleId: ({ name }) => drawnId(21, 'AROA', UPPER_CASE_ALPHABET)(name),
    },
  },
  'AWS::KMS::Key': { defaultName: drawnId(32), attributes: arnOf('kms', 'key/') },
  'AWS::Lambda::Function': { nameProperty: 'FunctionName', attributes: arnOf('lambda', 'function:') },
  'AWS::Logs::LogGroup': {
    nameProperty: 'LogGroupName',
    attributes: { Arn: ({ name }) => arn('logs', `log-group:${name}:*`) },
  },
  'AWS::S3::Bucket': {
    nameProperty: 'BucketName',
    // Bucket names are lower case and at most 63 characters long.
    defaultName: (logicalId) => shortName(logicalId.toLowerCase(), 63),
    attributes: {
      Arn: ({ name }) => `arn:${PARTITION}:s3:::${name}`,
      DomainName: ({ name }) => `${name}.s3.${URL_SUFFIX}`,
      RegionalDomainName: ({ name }) => `${name}.s3.${REGION}.${URL_SUFFIX}`,
    },
  },
  'AWS::SNS::Subscription': {
    ref: subscriptionArn,
    attributes: { Arn: subscriptionArn },
  },
  'AWS::SNS::Topic': {
    nameProperty: 'TopicName',
    ref: topicArn,
    attributes: { TopicArn: topicArn, TopicName: ({ name }) => name },
  },
  'AWS::SQS::Queue': {
    nameProperty: 'QueueName',
    ref: ({ name }) => `https://sqs.${REGION}.${URL_SUFFIX}/${ACCOUNT_ID}/${name}`,
    attributes: {
      ...arnOf('sqs', ''),
      QueueName: ({ name }) => name,
      QueueUrl: ({ name }) => `https://sqs.${REGION}.${URL_SUFFIX}/${ACCOUNT_ID}/${name}`,
    },
  },
  'AWS::SSM::Parameter': { nameProperty: 'Name' },
  'AWS::Scheduler::Schedule': { nameProperty: 'Name', attributes: arnOf('scheduler', 'schedule/default/') },
  'AWS::Scheduler::ScheduleGroup': {
    nameProperty: 'Name',
    attributes: arnOf('scheduler', 'schedule-group/'),
  },
  'AWS::SecretsManager::Secret': {
    nameProperty: 'Name',
    // The form of CloudFormation's own names; the CDK's `secretName` relies on the hyphen.
    defaultName: (logicalId) => `${logicalId}-${stableText(logicalId, 12)}`,
    ref: secretArn,
    attributes: { Id: secretArn },
  },
  'AWS::StepFunctions::StateMachine': {
    nameProperty: 'StateMachineName',
    ref: stateMachineArn,
    attributes: { Arn: stateMachineArn, Name: ({ name }) => name },
  },
};

/** `text`, shortened to `maxLength` with a hash of the whole at its end. */
const shortName = (text: string, maxLength: number) =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength - 9)}-${stableText(text, 8)}`;

/** Whether a function of the stack creates the resource. */
export const isCustomResource = ({ Type }: TemplateResource) =>
  Type.startsWith('Custom::') || Type === 'AWS::CloudFormation::CustomResource';

/** Whether a resource has its attributes only at run time: custom resources and function URLs. */
export const isKnownLater = (resource: TemplateResource) =>
  isCustomResource(resource) || resource.Type === 'AWS::Lambda::Url';

/**
 * The physical name of a resource: `givenName` (resolved) if the template has one, else one derived from the logical id, at most 64
 * characters (the limit of Lambda and IAM) and the same in every run.
 */
export const physicalName = (logicalId: string, { Type }: TemplateResource, givenName: unknown): string => {
  if (typeof givenName === 'string') return givenName;
  return RESOURCE_MODELS[Type]?.defaultName?.(logicalId) ?? shortName(logicalId, 64);
};

/** The property that may name a resource of this type. */
export const nameProperty = ({ Type }: TemplateResource): string | undefined =>
  RESOURCE_MODELS[Type]?.nameProperty;

/** The value of `Ref`; not for custom resources. */
export const referenceOf = (resource: NamedResource, { Type }: TemplateResource): string =>
  RESOURCE_MODELS[Type]?.ref?.(resource) ?? resource.name;

/** The value of `Fn::GetAtt`; not for custom resources. Throws `TemplateError` for an unknown attribute. */
export const attributeOf = (
  resource: NamedResource,
  { Type }: TemplateResource,
  attribute: string,
): string => {
  const read = RESOURCE_MODELS[Type]?.attributes?.[attribute];
  if (!read) {
    throw new TemplateError(
      `${resource.logicalId} (${Type}): the local run does not know attribute ${attribute}`,
    );
  }
  return read(resource);
};
