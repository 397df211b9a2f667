import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { beforeEach, jest } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { createRequest } from '../../../../core/creation/create-request.ts';
import type { InputMeasure, InputsToMeasure } from '../../../../core/creation/input-measuring.ts';
import type { CreationFacts } from '../../../../core/creation/judge-creation.ts';
import type { Measuring } from '../../../../core/creation/measured-creation.ts';
import { anAccount } from '../../builders/entities.ts';
import { aVideoSubmission, theFacts } from '../../builders/submissions.ts';
import { MemoryFunctions } from '../../fakes/memory-functions.ts';

export const bedrock = mockClient(BedrockRuntimeClient);
const functions = new MemoryFunctions();
beforeEach(() => {
  functions.reset();
  discard.mockClear();
});

/** A clip of so many milliseconds, as it is measured. */
export const aClip = (durationMs: number, extension?: 'mp4' | 'mov'): InputMeasure => ({
  ...{ contentType: 'video/mp4', sizeBytes: 1000, width: 640, height: 360, framesPerSecond: 24, durationMs },
  ...(extension && { extension }),
});
/** Measures these seconds, or finds these problems. */
export const measuring = (...seconds: (number | string)[]) =>
  jest.fn(async (_inputs: InputsToMeasure) =>
    seconds.map(
      (one): InputMeasure =>
        typeof one === 'string' ? { problem: one } : aClip(one * 1000, one <= 15 ? 'mp4' : undefined),
    ),
  );
/** Removals of copies that no request was written for. */
export const discard = jest.fn(async (_inputs: InputsToMeasure): Promise<void> => undefined);
/** Creates a request whose inputs are measured so. */
export const createVideo = (
  ...[account, submission, facts, measure]: [
    ...(Parameters<typeof createRequest> extends [infer A, infer S, infer F, ...unknown[]]
      ? [A, S, F]
      : never),
    Measuring['measure'],
  ]
) => createRequest(account, submission, facts, { measuring: { measure, discard } });
/** Creates a video of this body. */
export const create = async (
  body: Record<string, unknown> = {},
  measure = measuring(),
  { facts = {}, account = {} }: { facts?: Partial<CreationFacts>; account?: Partial<typeof POOR> } = {},
) => {
  const submission = aVideoSubmission(body, facts.idempotencyRecord && { idempotencyKey: 'key-1' });
  return createVideo(anAccount(account), submission, theFacts(facts), measure);
};
const POOR = { balanceThousandths: 1 };
