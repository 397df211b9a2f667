import type { CloudFormationCustomResourceEvent, Context } from 'aws-lambda';
import { exchange } from '../core/http-exchange.ts';
import { logger } from '../core/observability.ts';

/** Attempts to answer CloudFormation, and the time limit of each. Without an answer it waits for the resource's timeout. */
const ANSWER_ATTEMPTS = 3;
const ANSWER_TIMEOUT_MS = 5_000;

/** Puts the answer where CloudFormation reads it. Throws when no attempt was accepted; Lambda then runs the function again. */
const answer = async (url: string, answered: Record<string, unknown>): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      const { statusCode, body } = await exchange(new URL(url), {
        method: 'PUT',
        // CloudFormation signs the URL without a content type.
        headers: { 'content-type': '' },
        body: JSON.stringify(answered),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      body.resume();
      if (statusCode < 300) return;
      throw new Error(`The answer was refused with ${statusCode}.`);
    } catch (error) {
      if (attempt === ANSWER_ATTEMPTS) throw error;
    }
  }
};

/**
 * The result of a custom resource. A changed `physicalId` replaces the resource: CloudFormation then deletes
 * the old one.
 */
export interface CustomResourceOutcome {
  physicalId: string;
  /** Attributes for `Fn::GetAtt`. */
  data?: Record<string, string>;
}

/** An error with a message for the person who deploys. */
export class CustomResourceError extends Error {
  override name = 'CustomResourceError';
}

/**
 * Makes the Lambda handler of a custom resource. An error of `run` fails the deployment. The reason shown is
 * the message of a `CustomResourceError`, else only the name of the log stream, since errors of AWS name
 * resources.
 */
export const customResource =
  (run: (event: CloudFormationCustomResourceEvent, context: Context) => Promise<CustomResourceOutcome>) =>
  async (event: CloudFormationCustomResourceEvent, context: Context): Promise<void> => {
    const { StackId, RequestId, LogicalResourceId } = event;
    // CloudFormation wants an id also from a creation that failed, and deletes it then.
    const known = 'PhysicalResourceId' in event ? event.PhysicalResourceId : 'not-made';
    const outcome = await run(event, context).then(
      ({ physicalId, data = {} }) => ({ Status: 'SUCCESS', PhysicalResourceId: physicalId, Data: data }),
      (error: Error) => {
        logger.error('a custom resource failed', { error, logicalResourceId: LogicalResourceId });
        const isOurs = error instanceof CustomResourceError;
        const Reason = isOurs ? error.message : `See the logs: ${context.logStreamName}`;
        return { Status: 'FAILED', PhysicalResourceId: known, Reason };
      },
    );
    await answer(event.ResponseURL, { StackId, RequestId, LogicalResourceId, ...outcome });
  };
