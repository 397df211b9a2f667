import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { isThrottlingError } from '@smithy/core/retry';
import { CALL_LIMITS, clientOptions } from '../aws-clients.ts';
import { requiredEnv } from '../environment.ts';
import { type ClipMeasure, ClipMeasures, type Clips, tooManyClips } from './clip-measuring.ts';

type SdkError = Parameters<typeof isThrottlingError>[0];

const lambda = new LambdaClient(clientOptions('measuring'));

/** The function `measure-clips` failed, or returned something else than a measure for each URL. */
export class ClipsNotMeasuredError extends Error {
  override name = 'ClipsNotMeasuredError';
}

/**
 * Copies and measures the videos at these URLs by the function `measure-clips`, which may do nothing but put copies: what
 * strangers' servers send is parsed there only. Throws `ServiceError` with `rate_limited` when that function is throttled, `ClipsNotMeasuredError`, and the
 * SDK's error when Lambda does not answer.
 */
export const invokeMeasureClips = async (clips: Clips): Promise<ClipMeasure[]> => {
  const { FunctionError, Payload } = await invoke(JSON.stringify(clips));
  const answer = Payload?.transformToString() ?? '';
  if (FunctionError !== undefined) throw new ClipsNotMeasuredError(`measure-clips failed: ${answer}`);
  const { measures } = parseAnswer(answer);
  if (measures.length !== clips.urls.length) {
    throw new ClipsNotMeasuredError(
      `measure-clips returned ${measures.length} of ${clips.urls.length} measures.`,
    );
  }
  return measures;
};

const invoke = async (payload: string) => {
  try {
    return await lambda.send(
      new InvokeCommand({ FunctionName: requiredEnv('MEASURE_CLIPS_FUNCTION_ARN'), Payload: payload }),
      { abortSignal: AbortSignal.timeout(CALL_LIMITS.measuring.totalMs) },
    );
  } catch (error) {
    throw isThrottlingError(error as SdkError) ? tooManyClips(error) : error;
  }
};

const parseAnswer = (answer: string): ClipMeasures => {
  try {
    return ClipMeasures.parse(JSON.parse(answer));
  } catch (error) {
    throw new ClipsNotMeasuredError('measure-clips returned no measures.', { cause: error });
  }
};
