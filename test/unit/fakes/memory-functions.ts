import { GetAccountSettingsCommand, InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { Handler } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { aLambdaContext } from '../builders/api-events.ts';
import { serveCommands } from './serve-commands.ts';

/** Functions behind every Lambda client, by ARN. What a handler throws is a function error, as Lambda makes it. */
export class MemoryFunctions {
  readonly client = mockClient(LambdaClient);
  private readonly handlers = new Map<string, Handler>();

  set(arn: string, handler: Handler): void {
    this.handlers.set(arn, handler);
  }

  /** Forgets the calls, and what a test made Lambda answer instead. */
  reset(): void {
    this.client.reset();
    serveCommands(this.client, [
      [GetAccountSettingsCommand, async () => ({ AccountLimit: { ConcurrentExecutions: 1_000 } })],
      [
        InvokeCommand,
        async ({ FunctionName, InvocationType, Payload }) => {
          // Lambda takes the event.
          if (InvocationType === 'Event' && FunctionName.endsWith('deliver-webhook'))
            return { StatusCode: 202 };
          const handler = this.handlers.get(FunctionName);
          if (!handler) throw Object.assign(new Error(FunctionName), { name: 'ResourceNotFoundException' });
          return anInvocation(() => handler(JSON.parse(Payload), aLambdaContext(), () => undefined));
        },
      ],
    ]);
  }

  /** Makes Lambda answer every invocation so. */
  answer(payload: string, FunctionError?: string): void {
    this.client.on(InvokeCommand).resolves({ ...bodyOf(payload), ...(FunctionError && { FunctionError }) });
  }

  /** Makes Lambda refuse every invocation with this error. */
  refuse(error: Error): void {
    this.client.on(InvokeCommand).rejects(error);
  }
}

const bodyOf = (payload: string) => {
  const bytes = Buffer.from(payload);
  return { Payload: Object.assign(bytes, { transformToString: () => payload }) };
};

const anInvocation = async (run: () => unknown) => {
  try {
    return bodyOf(JSON.stringify((await run()) ?? null));
  } catch (error) {
    const { name: errorType, message: errorMessage } = error as Error;
    return { ...bodyOf(JSON.stringify({ errorType, errorMessage })), FunctionError: 'Unhandled' };
  }
};

/** The webhooks whose first attempt was asked for. */
export const firstAttemptsOf = ({ client }: MemoryFunctions): unknown[] =>
  client.commandCalls(InvokeCommand).flatMap(({ args: [{ input }] }) => {
    if (input.InvocationType !== 'Event') return [];
    return [(JSON.parse(String(input.Payload)) as { delivery?: unknown }).delivery];
  });
