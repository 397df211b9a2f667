import { TemplateError } from './assembly.ts';
import { isCustomResource } from './attributes.ts';
import type { Resolver, StackResource } from './resolver.ts';

/** Resource types that are emulated, read, or not needed to behave the same. */
const EMULATED = new Set([
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::GatewayResponse',
  'AWS::ApiGateway::Method',
  'AWS::ApiGateway::Resource',
  'AWS::ApiGateway::RestApi',
  'AWS::ApiGateway::Stage',
  'AWS::CloudFront::CachePolicy',
  'AWS::CloudFront::Distribution',
  'AWS::CloudFront::KeyGroup',
  'AWS::CloudFront::OriginAccessControl',
  'AWS::CloudFront::PublicKey',
  'AWS::CloudFront::ResponseHeadersPolicy',
  'AWS::DynamoDB::GlobalTable',
  'AWS::DynamoDB::Table',
  'AWS::Events::Rule',
  'AWS::IAM::ManagedPolicy',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Lambda::Url',
  'AWS::Logs::LogGroup',
  'AWS::S3::Bucket',
  'AWS::S3::BucketPolicy',
  'AWS::SecretsManager::Secret',
  'AWS::StepFunctions::StateMachine',
]);

/** Resource types without an effect here: no function's behaviour depends on them. */
const WITHOUT_EFFECT = new Set([
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::DomainName',
  'AWS::CDK::Metadata',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::CompositeAlarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::KMS::Alias',
  'AWS::KMS::Key',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Logs::MetricFilter',
  'AWS::Logs::QueryDefinition',
  'AWS::Scheduler::ScheduleGroup',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::Queue',
  'AWS::SQS::QueuePolicy',
  'AWS::WAFv2::WebACL',
  'AWS::WAFv2::WebACLAssociation',
]);

/** Calls of a schedule on which nothing in the stack depends. */
const CALLS_WITHOUT_EFFECT = ['arn:aws:scheduler:::aws-sdk:dynamodb:exportTableToPointInTime'];

/** A schedule that makes such a call. Any other would have to run. */
const isIdleSchedule = ({ type, properties }: StackResource): boolean =>
  type === 'AWS::Scheduler::Schedule' &&
  CALLS_WITHOUT_EFFECT.includes(String((properties.Target as Record<string, unknown> | undefined)?.Arn));

/** Throws `TemplateError` that names every resource of any other type. */
export const refuseUnknownKinds = (resolver: Resolver): void => {
  const unknown = resolver
    .resources()
    .filter(
      (resource) =>
        !EMULATED.has(resource.type) &&
        !WITHOUT_EFFECT.has(resource.type) &&
        !isIdleSchedule(resource) &&
        !isCustomResource(resource.definition),
    );
  if (unknown.length > 0) {
    const names = unknown.map(({ logicalId, type }) => `${logicalId} (${type})`).join(', ');
    throw new TemplateError(`The local run does not know what to make of ${names}`);
  }
};
