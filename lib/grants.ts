import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Policy, PolicyStatement, type PolicyStatementProps } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { ServiceFunction } from './service-function.ts';

/** Lets functions do exactly these actions on exactly these resources. */
export const allow = (to: readonly ServiceFunction[], actions: string[], resources: string[]): void => {
  for (const { lambda } of to) lambda.addToRolePolicy(new PolicyStatement({ actions, resources }));
};

/**
 * As `allow`, in a policy of its own: for a function that acts on a state machine which invokes it. Its role's
 * own policy must be there before the function is, and so before the state machine.
 */
export const allowLater = (
  scope: Construct,
  id: string,
  to: ServiceFunction,
  statement: PolicyStatementProps,
) => {
  const { role } = to.lambda;
  if (!role) throw new Error(`${to.node.path} has no role.`);
  new Policy(scope, id, { roles: [role], statements: [new PolicyStatement(statement)] });
};

/** Lets functions do these operations on the table itself. */
export const allowOnTable = (table: ITable, to: readonly ServiceFunction[], ...operations: string[]): void =>
  allow(
    to,
    operations.map((operation) => `dynamodb:${operation}`),
    [table.tableArn],
  );

/** Lets a function do these operations on items of the table whose partition key has one of these forms (`REQUEST#*`). */
export const allowOnItems = (
  table: ITable,
  to: ServiceFunction,
  operations: readonly string[],
  partitionKeys: string[],
): void => {
  to.lambda.addToRolePolicy(
    new PolicyStatement({
      actions: operations.map((operation) => `dynamodb:${operation}`),
      resources: [table.tableArn],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitionKeys } },
    }),
  );
};

/** Lets a function query these indexes of the table. */
export const allowOnIndexes = (table: ITable, to: ServiceFunction, names: readonly string[]): void =>
  allow(
    [to],
    ['dynamodb:Query'],
    names.map((name) => `${table.tableArn}/index/${name}`),
  );
