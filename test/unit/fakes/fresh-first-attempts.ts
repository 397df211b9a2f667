import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { beforeEach } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';

/** Lambda, which takes events for `deliver-webhook` and runs nothing. */
export const lambda = mockClient(LambdaClient);
beforeEach(() => {
  lambda.reset();
  lambda.on(InvokeCommand).resolves({ StatusCode: 202 });
});

/** The first attempts that were asked for, by delivery, in order; with repetitions. */
export const firstAttempts = (): unknown[] =>
  lambda
    .commandCalls(InvokeCommand)
    .map(({ args: [{ input }] }) => (JSON.parse(String(input.Payload)) as { delivery?: unknown }).delivery);
