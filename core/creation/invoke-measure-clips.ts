import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { isThrottlingError } from '@smithy/core/retry';
import { CALL_LIMITS, clientOptions } from '../aws-clients.ts';
import { requiredEnv } from '../environment.ts';
import { logger, runOrLog } from '../observability.ts';
import {
  type InputMeasure,
  InputMeasures,
  type InputsToMeasure,
  type MeasuringWork,
  tooManyInputs,
} from './input-measuring.ts';

type SdkError = Parameters<typeof isThrottlingError>[0];

/** Longest wait for a removal, cold start included. The function goes on without its caller. */
const DISCARD_MS = 2_000;

/** Longest part of an unexpected answer that is logged: untrusted files influence the text. */
const MOST_SAID = 1_000;

const lambda = new LambdaClient(clientOptions('measuring'));

/** The function `measure-clips` failed, or returned something else than a measure for each file. */
class InputsNotMeasuredError extends Error {
  override name = 'InputsNotMeasuredError';
}

/**
 * Invokes the function `measure-clips` to measure the input files of a request, and to copy its videos. Untrusted files are
 * parsed in that function only; its role can do nothing but put and delete copies. Throws `ServiceError` with
 * `rate_limited` when that function is throttled, `InputsNotMeasuredError`, and the SDK's error when Lambda
 * does not answer.
 */
export const invokeMeasureClips = async (inputs: InputsToMeasure): Promise<InputMeasure[]> => {
  const { Payload } = await invoke(inputs, CALL_LIMITS.measuring.totalMs);
  const answer = Payload?.transformToString() ?? '';
  const measures = measuresIn(answer);
  if (measures?.length !== inputs.files.length) {
    const said = answer.slice(0, MOST_SAID);
    throw new InputsNotMeasuredError(`measure-clips did not measure ${inputs.files.length} files: ${said}`);
  }
  return measures;
};

/** Undefined for an answer without measures, as of a failed function. */
const measuresIn = (answer: string): InputMeasure[] | undefined => {
  try {
    return InputMeasures.parse(JSON.parse(answer)).measures;
  } catch {
    return undefined;
  }
};

/**
 * Invokes the same function to remove any copies of the reference videos of a request. Never rejects: a
 * throttle, a failure or no answer within 2 s is logged, and the bucket's lifecycle rule deletes the
 * remaining copies after two days.
 */
export const invokeDiscardClips = async ({ requestId, files }: InputsToMeasure): Promise<void> => {
  const message = 'copies of clips could not be removed';
  await runOrLog({ message, level: 'warn', requestId }, async () => {
    const left = files.filter(({ medium }) => medium === 'video').length;
    const { FunctionError } = await invoke({ requestId, left }, DISCARD_MS);
    if (FunctionError !== undefined) logger.warn(message, { requestId });
  });
};

const invoke = async (work: MeasuringWork, limitMs: number) => {
  try {
    return await lambda.send(
      new InvokeCommand({
        FunctionName: requiredEnv('MEASURE_CLIPS_FUNCTION_ARN'),
        Payload: JSON.stringify(work),
      }),
      { abortSignal: AbortSignal.timeout(limitMs) },
    );
  } catch (error) {
    throw isThrottlingError(error as SdkError) ? tooManyInputs(error) : error;
  }
};
