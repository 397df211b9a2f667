import { ExecutionAlreadyExists, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { requiredEnv } from './environment.ts';

const stepFunctions = new SFNClient({
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 5000 },
});

/**
 * Starts the execution that owns a request from now on. It is named by the request, so starting it twice
 * starts it once, and it carries the id alone: the record is the truth.
 */
export const startGeneration = async (requestId: string): Promise<void> => {
  const start = new StartExecutionCommand({
    stateMachineArn: requiredEnv('GENERATION_STATE_MACHINE_ARN'),
    name: requestId,
    input: JSON.stringify({ requestId }),
  });
  try {
    await stepFunctions.send(start);
  } catch (error) {
    // A repeated start finds an execution that has ended meanwhile: it was started, which is all that is wanted.
    if (!(error instanceof ExecutionAlreadyExists)) throw error;
  }
};
