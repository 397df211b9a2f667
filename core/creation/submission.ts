import type { FieldErrors } from '../errors.ts';
import type { ReadBody } from '../fields.ts';
import { type NewImageRequest, parseImageRequest } from './create-image-rules.ts';
import { type NewVideoRequest, parseVideoRequest } from './create-video-rules.ts';
import { type NewCreation, type ParsedCreation, withFieldErrors } from './creation-fields.ts';
import { type Idempotency, idempotencyOf } from './idempotency.ts';

/** What can be created. */
export type NewRequest = NewImageRequest | NewVideoRequest;

/** A creation as it arrived, before its body is parsed. */
export interface ReceivedCreation {
  /** The caller's API key. */
  keyId: string;
  /** As callers write it: `POST /v1/videos`. */
  route: string;
  body: ReadBody;
  /** As sent; when it is malformed, `fields` says so. */
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

const submissionBy =
  <New extends NewCreation>(
    parse: (body: Record<string, unknown>, allowPrivate: boolean) => ParsedCreation<New>,
  ) =>
  (
    { route, body, idempotencyKey, keyId, fields, now }: ReceivedCreation,
    allowPrivate: boolean,
  ): Submission<New> => {
    const parsed = withFieldErrors(
      body.ok
        ? parse(body.body, allowPrivate)
        : { ok: false, error: body.error, model: undefined, endUserEmail: undefined },
      fields,
    );
    // Only a valid body gets a fingerprint: any other can be nested without limit.
    const idempotency =
      parsed.ok && body.ok && idempotencyKey !== undefined
        ? idempotencyOf(idempotencyKey, route, body.body)
        : undefined;
    return { ...parsed, idempotency, keyId, now };
  };

/** Parses a submission for images. Never throws: authorization comes before any refusal. */
export const imageSubmission = submissionBy(parseImageRequest);

/** Parses a submission for a video. Never throws: authorization comes before any refusal. */
export const videoSubmission = submissionBy(parseVideoRequest);
