import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { routeLimitPartition } from '../../../core/table/keys.ts';
import { type Invocation, invocations } from '../world/engine/invocation.ts';

/** A call that a function makes to the table or to Step Functions. */
export interface ClientCall {
  invocation: Invocation;
  /** The name of the command: `UpdateCommand`. */
  command: string;
  input: Record<string, unknown>;
}

/** Stands in for a call; `send` makes the call. */
export type Intercept = (call: ClientCall, send: () => Promise<unknown>) => Promise<unknown>;

let intercept: Intercept | undefined;

/** Replaces the calls of functions from now on, while the world runs; undefined lets them pass. */
export const interceptCalls = (next: Intercept | undefined): void => {
  intercept = next;
};

/** Whether a call reads or writes a route limit or its queue, or wakes a request. */
export const isAboutQueue = ({ command, input }: ClientCall): boolean =>
  command === 'SendTaskSuccessCommand' || JSON.stringify(input).includes(routeLimitPartition(''));

for (const client of [DynamoDBDocumentClient, SFNClient]) {
  const { send } = client.prototype as unknown as { send: (...values: unknown[]) => Promise<unknown> };
  Object.assign(client.prototype, {
    send(this: unknown, command: { constructor: { name: string }; input: ClientCall['input'] }) {
      const make = () => send.call(this, command);
      const invocation = invocations.getStore();
      if (!intercept || !invocation) return make();
      return intercept({ invocation, command: command.constructor.name, input: command.input }, make);
    },
  });
}
