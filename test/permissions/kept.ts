import type { Unused } from './unused.ts';

/** Permissions of a role that no contract test needs, and why it keeps them. */
export interface Kept {
  /** The role's function, as `unusedPermissions` names it. */
  of: string;
  actions: readonly string[];
  why: string;
}

/**
 * Kept though unused: permissions needed after a crash or an outage, or when the stack is deleted, which no contract
 * test causes.
 */
export const KEPT: readonly Kept[] = [
  {
    of: 'ExecutionStopperStopExecutionsFunction',
    actions: ['cloudformation:DescribeStacks', 'states:ListExecutions', 'states:StopExecution'],
    why: 'runs when the stack is deleted',
  },
  {
    of: 'GenerationWorkflowFailRequestFunction',
    actions: ['s3:DeleteObject', 's3:ListBucket'],
    why: 'a request that fails after some of its outputs were stored leaves no file',
  },
  {
    of: 'GenerationWorkflowStoreOutputsFunction',
    actions: ['s3:AbortMultipartUpload'],
    why: 'a large file whose transfer breaks off leaves no parts',
  },
  {
    of: 'GenerationWorkflowStoreOutputsFunction',
    actions: ['s3:DeleteObject'],
    why: 'a stored video whose duration cannot be determined is removed',
  },
  {
    of: 'ReconcilerReconcileFunction',
    actions: ['dynamodb:BatchWriteItem', 'dynamodb:DeleteItem', 'dynamodb:Query', 's3:DeleteObject'],
    why: 'goes on with a deletion whose call died',
  },
  {
    of: 'ReconcilerReconcileFunction',
    actions: ['dynamodb:PutItem', 'states:DescribeExecution'],
    why: 'fails and refunds a request whose execution is gone',
  },
  {
    of: 'ReconcilerReconcileFunction',
    actions: ['secretsmanager:GetSecretValue', 'states:SendTaskSuccess'],
    why: 'queries the provider of a request whose callback was lost, and wakes its execution',
  },
  {
    of: 'ReconcilerReconcileLostFunction',
    actions: [
      ...['dynamodb:PutItem', 'dynamodb:UpdateItem', 's3:DeleteObject', 's3:ListBucket'],
      ...['states:DescribeExecution', 'states:StartExecution'],
    ],
    why: 'fails and refunds a request whose execution was reported as lost, removes its files and starts its webhook',
  },
];

/** Why a permission is kept; undefined when nothing says so. */
export const reasonFor = ([of, action]: Unused, kept: readonly Kept[] = KEPT): string | undefined =>
  kept.find((one) => one.of === of && one.actions.includes(action))?.why;
