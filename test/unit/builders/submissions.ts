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

/** A submission for one image, with private targets refused. */
export const anImageSubmission = (
  body: Record<string, unknown> = {},
  overrides: Overrides = {},
): Submission<NewImageRequest> =>
  imageSubmission(received(routeText('create-generation'), aGenerationBody(body), overrides), false);

/** A submission for a video, with private targets refused. */
export const aVideoSubmission = (
  body: Record<string, unknown> = {},
  overrides: Overrides = {},
): Submission<NewVideoRequest> =>
  videoSubmission(received(routeText('create-video'), aVideoBody(body), overrides), false);

/** The facts of a creation whose provider has a credential, of an end-user who is not there yet. */
export const creationFacts = (overrides: Partial<CreationFacts> = {}): CreationFacts => ({
  endUser: undefined,
  settings: undefined,
  credentials: new Set(['modelstudio'] as const),
  pausedSeconds: undefined,
  idempotencyRecord: undefined,
  ...overrides,
});
