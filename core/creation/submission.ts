import { allowPrivateTargets } from '../environment.ts';
import { type FieldErrors, ValidationError } from '../errors.ts';
import type { ReadBody } from '../fields.ts';
import { toHandle } from '../files/file-handles.ts';
import { withInputFiles } from '../requests/input-files.ts';
import { type NewImageRequest, parseImageRequest } from './create-image-rules.ts';
import { type NewVideoRequest, parseVideoRequest } from './create-video-rules.ts';
import type { NewCreation, ParsedCreation } from './creation-fields.ts';
import { type Idempotency, idempotencyOf } from './idempotency.ts';

/** The kinds of requests. */
export type NewRequest = NewImageRequest | NewVideoRequest;

/** A creation as it arrived, before its body is parsed. */
export interface ReceivedCreation {
  /** The caller's API key. */
  keyId: string;
  /** Method and path: `POST /v1/videos`. */
  route: string;
  body: ReadBody;
  /** Fingerprinted in place of the body: each call stores the files of a form as other uploads. */
  sent?: unknown;
  /** The raw header; `fields` has the problem of a malformed header. */
  idempotencyKey: string | undefined;
  /** Errors outside the body. */
  fields: FieldErrors;
  now: Date;
}

/** A submission as parsed: the creation, or all errors found in it. */
export type Submission<New extends NewCreation = NewRequest> = ParsedCreation<New> & {
  /** Absent when the caller sent no `Idempotency-Key`, and for a submission that is refused anyway. */
  idempotency: Idempotency | undefined;
  keyId: string;
  now: Date;
};

/** Parses a submission by the rules of what it creates, with handles in place of URLs of our files: a signature is not kept. Never throws: authorization comes before any refusal. */
const submissionBy =
  <New extends NewCreation>(
    parse: (body: Record<string, unknown>, allowPrivate: boolean, fields: FieldErrors) => ParsedCreation<New>,
  ) =>
  ({ route, body, sent, idempotencyKey, keyId, fields, now }: ReceivedCreation): Submission<New> => {
    const parsed = body.ok ? parse(body.body, allowPrivateTargets(), fields) : unreadable(body.error, fields);
    if (!parsed.ok) return { ...parsed, idempotency: undefined, keyId, now };
    // Only a valid body gets a fingerprint: any other can be nested without limit.
    const idempotency =
      body.ok && idempotencyKey !== undefined
        ? idempotencyOf(idempotencyKey, route, sent ?? withInputFiles(body.body, toHandle))
        : undefined;
    return { ok: true, creation: withInputFiles(parsed.creation, toHandle), idempotency, keyId, now };
  };

const unreadable = (error: ValidationError, fields: FieldErrors): ParsedCreation<never> => ({
  ok: false,
  error: Object.keys(fields).length === 0 ? error : new ValidationError({ ...error.fields, ...fields }),
  model: undefined,
  endUserEmail: undefined,
});

/** Parses a submission for images. */
export const imageSubmission = submissionBy(parseImageRequest);

/** Parses a submission for a video. */
export const videoSubmission = submissionBy(parseVideoRequest);

/** Parses a submission to be priced: one for images or a video, by `kind` in its body. Throws `ValidationError` when that says neither. */
export const quoteSubmission = (received: ReceivedCreation): Submission => {
  const { body: read, fields } = received;
  if (!read.ok) return imageSubmission(received);
  const { kind, ...body } = read.body;
  const parse = kind === 'image' ? imageSubmission : kind === 'video' ? videoSubmission : undefined;
  if (!parse) {
    const problem = kind === undefined ? 'is required' : 'must be image or video';
    throw new ValidationError({ kind: problem, ...fields });
  }
  return parse({ ...received, body: { ok: true, body } });
};
