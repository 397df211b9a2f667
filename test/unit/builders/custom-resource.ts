import './environment.ts';
import { afterAll, beforeEach } from '@jest/globals';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { LoopbackServer } from '../servers/loopback-server.ts';

/** Where CloudFormation takes answers. It accepts them all. */
export const cloudFormation = await new LoopbackServer().start();
beforeEach(() => {
  cloudFormation.reset();
  cloudFormation.answer(200, '');
});
afterAll(() => cloudFormation.close());

/** The last answer that it got. */
export const answer = () => cloudFormation.requests.at(-1)?.body as Record<string, unknown>;

export type RequestType = CloudFormationCustomResourceEvent['RequestType'];

/** An event of CloudFormation for a custom resource with these properties. */
export const aResourceEvent = (
  RequestType: RequestType,
  properties: Record<string, string>,
  overrides: object = {},
): CloudFormationCustomResourceEvent =>
  ({
    ...{ RequestType, StackId: 'stack-1', RequestId: 'request-1', LogicalResourceId: 'Resource' },
    ResponseURL: `${cloudFormation.url}/answer?signature=x`,
    ResourceProperties: { ServiceToken: 'arn:function', ...properties },
    ...(RequestType !== 'Create' && { PhysicalResourceId: 'physical-1' }),
    ...overrides,
  }) as CloudFormationCustomResourceEvent;
