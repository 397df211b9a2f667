import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { clientOptions } from '../aws-clients.ts';
import { requiredEnv } from '../environment.ts';
import { parseBalanceEventId } from '../ids.ts';

const lambda = new LambdaClient(clientOptions('invocations'));

/** Gives a function an event: Lambda takes it, and runs the function later. */
export const invokeLater = async (functionName: string, event: object): Promise<void> => {
  await lambda.send(
    new InvokeCommand({
      FunctionName: functionName,
      InvocationType: 'Event',
      Payload: JSON.stringify(event),
    }),
  );
};

/**
 * Has the first attempt of a webhook made, without an execution: that of a terminal request, or of a balance event. Call it once the event is
 * written. Repeating it is harmless: an attempt is made once. An invocation that is lost is repeated by the reconciler.
 */
export const startFirstAttempt = (eventId: string): Promise<void> =>
  invokeLater(requiredEnv('DELIVER_WEBHOOK_FUNCTION_ARN'), {
    requestId: parseBalanceEventId(eventId) ? null : eventId,
    delivery: eventId,
    // The function cannot know the state machine that invokes it: each would be created after the other.
    stateMachineArn: requiredEnv('WEBHOOK_DELIVERY_STATE_MACHINE_ARN'),
  });
