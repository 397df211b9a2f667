import { PermissionsBoundary } from 'aws-cdk-lib';
import { z } from 'zod';

/** The CDK's own key. Its value is a policy by name or ARN; text, as from the command line, the CDK itself would pass over in silence. */
export const BOUNDARY_KEY = '@aws-cdk/core:permissionsBoundary';

const EXPECTED = 'Expected {"name":"…"} or {"arn":"…"}';
const Boundary = z.union(
  [
    z.strictObject({ name: z.string().min(1, EXPECTED) }),
    z.strictObject({ arn: z.string().startsWith('arn:', EXPECTED) }),
  ],
  EXPECTED,
);

/** The boundary of every role of the stack, those of custom resources included. */
export const permissionsBoundary = z
  .preprocess((value, context) => {
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      context.addIssue(`${EXPECTED}, not ${JSON.stringify(value)}`);
      return z.NEVER;
    }
  }, Boundary)
  .optional();

/** The boundary as the CDK takes it. */
export const boundaryOf = (given: z.output<typeof permissionsBoundary>): PermissionsBoundary | undefined => {
  if (given === undefined) return undefined;
  return 'name' in given ? PermissionsBoundary.fromName(given.name) : PermissionsBoundary.fromArn(given.arn);
};
