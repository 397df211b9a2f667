import type { Taken } from '../../core/provider-calls/providers.ts';
import type { ErrorClass, ErrorRow, ProviderErrors } from '../error-classes.ts';

export interface SubmitOutcome {
  /** HTTP statuses, as a pattern. */
  status: RegExp;
  /** Whether fal took the call: only one that was surely not taken may be made again, as fal has no idempotency key. */
  taken: Taken;
  /** The class of an error whose code decides nothing. */
  errorClass: ErrorClass;
}

/**
 * Whether fal took a submit, by the HTTP status of its answer; the first row that fits. No connection: *no*. No answer, or one
 * that breaks off: *unknown*. A 2xx with a request id is *yes*, without one it cannot be read and is *unknown*.
 */
export const SUBMIT_OUTCOMES: readonly SubmitOutcome[] = [
  { status: /^[23]/, taken: 'yes', errorClass: 'error' },
  // A bad key, a locked account or an empty balance, an unknown endpoint: nothing is queued.
  { status: /^(401|402|403|404)$/, taken: 'no', errorClass: 'access' },
  { status: /^429$/, taken: 'no', errorClass: 'throttled' },
  // The connection ended on the way: the request may be in the queue.
  { status: /^(408|409|499)$/, taken: 'unknown', errorClass: 'error' },
  { status: /^(400|413|414|415|422|451)$/, taken: 'no', errorClass: 'input' },
  { status: /^4/, taken: 'no', errorClass: 'error' },
  { status: /^504$/, taken: 'unknown', errorClass: 'timeout' },
  { status: /^5/, taken: 'unknown', errorClass: 'error' },
];

const UNHEARD_OF: SubmitOutcome = { status: /^/, taken: 'unknown', errorClass: 'error' };

export const submitOutcomeOf = (status: number): SubmitOutcome =>
  SUBMIT_OUTCOMES.find((row) => row.status.test(String(status))) ?? UNHEARD_OF;

/**
 * Errors of models (`type`) and of the platform (`error_type`), by fal's lists as of 26 November 2026 (https://fal.ai/docs/model-apis/errors and
 * https://fal.ai/docs/documentation/model-apis/request-errors).
 */
const ROWS: readonly ErrorRow[] = [
  { codes: /^content_policy_violation$/, is: 'content' },
  { codes: /^(request_timeout|startup_timeout|generation_timeout)$/, is: 'timeout' },
  // Of fal, or of a model's maker.
  { codes: /^(internal_|downstream_|runner_|client_)/, is: 'error' },
  { codes: /^concurrent_requests_limit$/, is: 'throttled' },
  { codes: /^file_download_error$/, is: 'input', reason: 'unfetched' },
  { codes: /^file_too_large$|^image_too_large$/, is: 'input', reason: 'large' },
  { codes: /^image_too_small$/, is: 'input', reason: 'small' },
  { codes: /^image_aspect_ratio_error$/, is: 'input', reason: 'ratio' },
  { codes: /^image_load_error$/, is: 'input', reason: 'unreadable' },
  { codes: /^unsupported_(image|audio|video)?_?format$/, is: 'input', reason: 'format' },
  { codes: /^(audio|video)_duration/, is: 'input', reason: 'duration' },
  // The prompt or a file leads to no result, or a field has a value that the model does not take.
  {
    codes:
      /^(no_media_generated|face_detection_error|feature_not_supported|invalid_archive|missing|one_of|bad_request|too_many|too_few)$|^(value|type|assertion)_error|_than(_equal)?$|_(parsing|type|too_long|too_short)$/,
    is: 'input',
    reason: 'value',
  },
];

const listed = (name: string, field: string): ProviderErrors['places'][number] => [
  new RegExp(`^${name}\\[(\\d+)\\]`),
  (index) => ({ field: `${field}[${index}]` }),
];

/** The errors that fal documents. fal names fields by `loc`, which `pathOf` writes as a path. */
export const FAL_ERRORS: ProviderErrors = {
  rows: ROWS,
  places: [
    [/^prompt$/, () => ({ field: 'prompt' })],
    [/^(start_)?image_url$/, () => ({ field: 'image' })],
    [/^end_image_url$/, () => ({ field: 'lastFrame' })],
    listed('image_urls', 'references'),
    listed('reference_image_urls', 'referenceImages'),
    listed('reference_video_urls', 'referenceVideos'),
    listed('reference_audio_urls', 'referenceAudios'),
    [/^(reference_)?image_urls$/, () => ({ medium: 'image' })],
    [/^reference_video_urls$/, () => ({ medium: 'video' })],
    [/^reference_audio_urls$/, () => ({ medium: 'audio' })],
    [/^image_size/, () => ({ field: 'size' })],
    [/^num_images$/, () => ({ field: 'n' })],
    [/^max_images$/, () => ({ field: 'sequentialOptions.maxImages' })],
    [/^resolution$/, () => ({ field: 'resolution' })],
    [/^aspect_ratio$/, () => ({ field: 'ratio' })],
    [/^duration$/, () => ({ field: 'durationSec' })],
  ],
  classAt: (status) => submitOutcomeOf(status).errorClass,
  takenAt: (status) => submitOutcomeOf(status).taken,
};

/** A place in a body, such as `["body", "image_urls", 0]`, as a path: `image_urls[0]`. */
export const pathOf = (loc: readonly (string | number)[]): string =>
  loc
    .slice(1)
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');
