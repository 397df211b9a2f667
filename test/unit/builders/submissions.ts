import type { NewImageRequest } from '../../../core/creation/create-image-rules.ts';
import type { NewVideoRequest } from '../../../core/creation/create-video-rules.ts';
import type { CreationFacts } from '../../../core/creation/judge-creation.ts';
import {
  imageSubmission,
  type ReceivedCreation,
  type Submission,
  videoSubmission,
} from '../../../core/creation/submission.ts';
import { routeText } from '../../../core/routes.ts';
import { aGenerationBody, aVideoBody } from './bodies.ts';
import { NOW } from './clocks.ts';
import { KEY_ID } from './entities.ts';

type Overrides = Partial<Pick<ReceivedCreation, 'idempotencyKey' | 'now'>>;

const received = (
  route: string,
  body: Record<string, unknown>,
  { idempotencyKey, now = NOW }: Overrides,
): ReceivedCreation => ({ route, body: { ok: true, body }, idempotencyKey, keyId: KEY_ID, fields: {}, now });

/** A submission for one image. */
export const anImageSubmission = (
  body: Record<string, unknown> = {},
  overrides: Overrides = {},
): Submission<NewImageRequest> =>
  imageSubmission(received(routeText('create-generation'), aGenerationBody(body), overrides));

/** A submission for a video. */
export const aVideoSubmission = (
  body: Record<string, unknown> = {},
  overrides: Overrides = {},
): Submission<NewVideoRequest> =>
  videoSubmission(received(routeText('create-video'), aVideoBody(body), overrides));

/** What is known of a creation that nothing is against. */
export const theFacts = (overrides: Partial<CreationFacts> = {}): CreationFacts => ({
  endUser: undefined,
  settings: undefined,
  credentials: new Set(['modelark', 'modelstudio']),
  pausedSeconds: undefined,
  idempotencyRecord: undefined,
  ...overrides,
});
