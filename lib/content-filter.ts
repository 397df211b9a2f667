import { Stack } from 'aws-cdk-lib';
import type { StackContext } from './context.ts';
import type { ServiceFunction } from './service-function.ts';

/** Lets functions apply the configured guardrail to prompts. Does nothing without one. */
export const bindGuardrail = (
  functions: readonly ServiceFunction[],
  { guardrailId, guardrailVersion }: Pick<StackContext, 'guardrailId' | 'guardrailVersion'>,
): void => {
  if (guardrailId === undefined) return;
  for (const to of functions) {
    to.addEnvironment({ GUARDRAIL_ID: guardrailId, GUARDRAIL_VERSION: guardrailVersion });
    const arn = { service: 'bedrock', resource: 'guardrail', resourceName: guardrailId };
    to.allow(['bedrock:ApplyGuardrail'], [Stack.of(to).formatArn(arn)]);
  }
};
