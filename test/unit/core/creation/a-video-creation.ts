import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { beforeEach, jest } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import type { ClipMeasure, Clips } from '../../../../core/creation/clip-measuring.ts';
import { createVideo } from '../../../../core/creation/create-video.ts';
import type { CreationFacts } from '../../../../core/creation/judge-creation.ts';
import { anAccount } from '../../builders/entities.ts';
import { aVideoSubmission, theFacts } from '../../builders/submissions.ts';
import { MemoryFunctions } from '../../fakes/memory-functions.ts';

export const bedrock = mockClient(BedrockRuntimeClient);
const functions = new MemoryFunctions();
beforeEach(() => {
  functions.reset();
  discard.mockClear();
});

/** Measures these seconds, or finds these problems. */
export const measuring = (...seconds: (number | string)[]) =>
  jest.fn(async (_clips: Clips) =>
    seconds.map(
      (one): ClipMeasure =>
        typeof one === 'string'
          ? { problem: one }
          : { durationMs: one * 1000, ...(one <= 15 && { extension: 'mp4' }) },
    ),
  );
/** Removals of copies that no request was written for. */
export const discard = jest.fn(async (_clips: Clips): Promise<void> => undefined);
/** Creates a video of this body. */
export const create = async (
  body: Record<string, unknown> = {},
  measure = measuring(),
  { facts = {}, account = {} }: { facts?: Partial<CreationFacts>; account?: Partial<typeof POOR> } = {},
) => {
  const submission = aVideoSubmission(body, facts.idempotencyRecord && { idempotencyKey: 'key-1' });
  return createVideo(anAccount(account), submission, theFacts(facts), measure, discard);
};
const POOR = { balanceThousandths: 1 };
