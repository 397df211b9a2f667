/** The region and account every local ARN carries. */
export interface Place {
  region: string;
  accountId: string;
}

/** The ARN of a table; an ARN is returned unchanged. */
export const tableArn = (place: Place, nameOrArn: string): string =>
  nameOrArn.startsWith('arn:')
    ? nameOrArn
    : `arn:aws:dynamodb:${place.region}:${place.accountId}:table/${nameOrArn}`;

/** The ARN of a function given by name, by `account:function:name`, or by ARN; a qualifier is kept. */
export const functionArn = (place: Place, nameOrArn: string): string => {
  if (nameOrArn.startsWith('arn:')) return nameOrArn;
  const name = nameOrArn.replace(/^\d{12}:function:/, '');
  return `arn:aws:lambda:${place.region}:${place.accountId}:function:${name}`;
};

/** A function ARN without its version or alias. */
export const withoutQualifier = (arn: string): string => arn.split(':').slice(0, 7).join(':');

/** The ARN of an execution of a standard state machine. */
export const executionArn = (place: Place, machineName: string, executionName: string): string =>
  `arn:aws:states:${place.region}:${place.accountId}:execution:${machineName}:${executionName}`;

/** The ARN of a state machine. */
export const stateMachineArn = (place: Place, machineName: string): string =>
  `arn:aws:states:${place.region}:${place.accountId}:stateMachine:${machineName}`;

/** The state machine and execution names in an execution ARN; undefined when it is not one. */
export const parseExecutionArn = (arn: string): { machineName: string; name: string } | undefined => {
  const match = /^arn:aws:states:[^:]*:[^:]*:execution:([^:]+):(.+)$/.exec(arn);
  return match?.[1] && match[2] ? { machineName: match[1], name: match[2] } : undefined;
};

/** The ARN of a role. */
export const roleArn = (place: Place, roleName: string): string =>
  `arn:aws:iam::${place.accountId}:role/${roleName}`;
