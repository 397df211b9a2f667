import { randomUUID } from 'node:crypto';

import type { AwsEvent } from '../../types.ts';
import type { Place } from '../arn.ts';
import type { Outcome } from './types.ts';

/** A status change of an execution: it started (no outcome), or it ended. */
export interface StatusChange {
  executionArn: string;
  stateMachineArn: string;
  name: string;
  /** Epoch seconds. */
  startDate: number;
  input: string;
  outcome?: Outcome | undefined;
}

/** Above this many bytes of escaped text the event omits the input, then the output: https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html */
const MAX_DATA_BYTES = 248 * 1024;

const escapedBytes = (text: string | undefined): number =>
  text === undefined ? 0 : Buffer.byteLength(JSON.stringify(text));

const epochMilliseconds = (seconds: number): number => Math.round(seconds * 1_000);

const redriveOf = (status: string) =>
  status === 'RUNNING' || status === 'SUCCEEDED'
    ? {
        redriveStatus: 'NOT_REDRIVABLE',
        redriveStatusReason: `Execution is ${status} and cannot be redriven`,
      }
    : { redriveStatus: 'REDRIVABLE', redriveStatusReason: null };

/** The event that Step Functions sends to the default bus. Its dates are in epoch milliseconds, unlike those of the API. */
export const statusChangeEvent = (place: Place, change: StatusChange): AwsEvent => {
  const { executionArn, input, outcome } = change;
  const status = outcome?.status ?? 'RUNNING';
  const output = outcome?.output;
  const hasInput = escapedBytes(input) + escapedBytes(output) <= MAX_DATA_BYTES;
  const hasOutput = escapedBytes(output) <= MAX_DATA_BYTES;
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Step Functions Execution Status Change',
    source: 'aws.states',
    account: place.accountId,
    time: `${new Date().toISOString().slice(0, 19)}Z`,
    region: place.region,
    resources: [executionArn],
    detail: {
      executionArn,
      stateMachineArn: change.stateMachineArn,
      name: change.name,
      status,
      startDate: epochMilliseconds(change.startDate),
      stopDate: outcome ? epochMilliseconds(outcome.stopDate) : null,
      input: hasInput ? input : null,
      output: hasOutput ? (output ?? null) : null,
      stateMachineVersionArn: null,
      stateMachineAliasArn: null,
      redriveCount: 0,
      redriveDate: null,
      ...redriveOf(status),
      inputDetails: { included: hasInput },
      outputDetails: output === undefined ? null : { included: hasOutput },
      error: outcome?.error ?? null,
      cause: outcome?.cause ?? null,
    },
  };
};
