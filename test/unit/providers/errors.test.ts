import { describe, expect, test } from '@jest/globals';
import type { InputFault } from '../../../core/errors.ts';
import { errorIn } from '../../../providers/error-bodies.ts';
import { classify, type ErrorClass, type ProviderErrors } from '../../../providers/error-classes.ts';
import { FAL_ERRORS } from '../../../providers/fal/errors.ts';
import { ARK_ERRORS } from '../../../providers/modelark/errors.ts';
import { MODEL_STUDIO_ERRORS, preciseError } from '../../../providers/modelstudio/errors.ts';

type Row = [codes: string, status: number | undefined, errorClass: ErrorClass];
/** One case for each code of each row, which a space or a line ends. */
const cases = (rows: Row[]): [string, number | undefined, ErrorClass][] =>
  rows.flatMap(([codes, status, errorClass]) =>
    codes.split(/\s+/).map((code): [string, number | undefined, ErrorClass] => [code, status, errorClass]),
  );
const classOf = (errors: ProviderErrors, code: string, status?: number) =>
  classify(errors, { code }, status).errorClass;

const MEDIA = ['Text', 'Image', 'Video', 'Audio'];
const SENSITIVE = MEDIA.map(
  (kind) => `Input${kind}SensitiveContentDetected Output${kind}SensitiveContentDetected`,
).join(' ');

describe('an error of ModelArk', () => {
  test.each(
    cases([
      [
        `MissingParameter MissingParameter.prompt InvalidParameter InvalidParameter.size
        InvalidParameter.TaskTypeConstraint InvalidParameter.UnsupportedParameter InvalidParameter.OversizedImage
        InvalidArgumentError InvalidArgumentError.UnknownRole Duplicate.Tags.Key OutofContextError
        InvalidImageURL.EmptyURL InvalidImageURL.InvalidFormat`,
        400,
        'input',
      ],
      ['ContentSecurityDetectionError', 400, 'error'],
      [
        `${SENSITIVE} SensitiveContentDetected SensitiveContentDetected.SevereViolation
        SensitiveContentDetected.Violence InputTextSensitiveContentDetected.PolicyViolation
        InputImageSensitiveContentDetected.PrivacyInformation
        OutputImageSensitiveContentDetected.DeepFake OutputImageSensitiveContentDetected.SomethingNew
        InputTextRiskDetection InputImageRiskDetection OutputTextRiskDetection OutputImageRiskDetection`,
        400,
        'content',
      ],
      ['AuthenticationError InvalidAccountStatus SomethingNew', 401, 'access'],
      [
        `AccountOverdueError AccessDenied OperationDenied.ServiceOverdue OperationDenied.ServiceNotOpen
        OperationDenied.PermissionDenied OperationDenied.FileQuotaExceeded SomethingNew`,
        403,
        'access',
      ],
      [
        `InvalidEndpointOrModel.NotFound InvalidEndpointOrModel.ModelIDAccessDisabled ModelNotOpen
        UnsupportedModel NotFound.model SomethingNew`,
        404,
        'access',
      ],
      [
        'InvalidAccountStatus OperationDenied.ServiceNotOpen SetLimitExceeded InvalidSubscription InvalidEndpoint.ClosedEndpoint',
        400,
        'access',
      ],
      [
        `RateLimitExceeded.EndpointRPMExceeded RateLimitExceeded.EndpointTPMExceeded
        RateLimitExceeded.EndpointFlexTPMExceeded ModelAccountRpmRateLimitExceeded ModelAccountTpmRateLimitExceeded
        ModelAccountFlexTpmRateLimitExceeded ModelAccountIpmRateLimitExceeded APIAccountRpmRateLimitExceeded
        AccountRateLimitExceeded RequestBurstTooFast ServerOverloaded InflightBatchsizeExceeded SomethingNew`,
        429,
        'throttled',
      ],
      ['QuotaExceeded QuotaExceeded.AgentPlanQuotaExceeded SetLimitExceeded', 429, 'quota'],
      ['InternalServiceError ServerOverloaded SomethingNew', 500, 'error'],
      // Inside a result there is no HTTP status: the same code means the same.
      ['OutputImageSensitiveContentDetected OutputImageRiskDetection', undefined, 'content'],
      ['InvalidParameter.image OutofContextError MissingParameter', undefined, 'input'],
      ['AccountOverdueError SetLimitExceeded', undefined, 'access'],
      ['ServerOverloaded', undefined, 'throttled'],
      ['InternalServiceError ContentSecurityDetectionError SomethingNew 1301', undefined, 'error'],
    ]),
  )('%s with status %p means %s', (code, status, errorClass) => {
    expect(classOf(ARK_ERRORS, code, status)).toBe(errorClass);
  });
});

describe('an error of Model Studio', () => {
  test.each(
    cases([
      [
        `DataInspectionFailed data_inspection_failed IPInfringementSuspect CustomRoleBlocked FaqRuleBlocked
        InternalError.Algo.DataInspectionFailed`,
        400,
        'content',
      ],
      ['DataInspectionFailed IPInfringementSuspect CustomRoleBlocked', undefined, 'content'],
      ['InvalidParameter.DataInspection', 400, 'input'],
      ['InternalError.DataInspection', 500, 'input'],
      [
        `InvalidParameter InvalidParameter.FileDownload BadRequest.EmptyInput BadRequest.IllegalInput
        BadRequest.UnsupportedFileFormat BadRequest.TooLarge BadRequest.InputDownloadFailed InvalidURL InvalidURL.Timeout
        InvalidURL.ConnectionRefused InvalidFile.Duration InvalidFile.FPS InvalidFile.Openerror InvalidImage.FileFormat
        InvalidImageResolution InvalidImageFormat InvalidInputLength InvalidPerson Audio.DecoderError
        InternalError.Algo.InvalidParameter invalid_request_error`,
        400,
        'input',
      ],
      ['UnsupportedOperation FlowNotPublished APIConnectionError', 400, 'error'],
      ['InvalidApiKey invalid_api_key SomethingNew', 401, 'access'],
      [
        `AccessDenied AccessDenied.Unpurchased Model.AccessDenied Workspace.AccessDenied Endpoint.AccessDenied
        App.AccessDenied access_denied AllocationQuota.FreeTierOnly SomethingNew`,
        403,
        'access',
      ],
      ['Arrearage', 400, 'access'],
      [
        'ModelNotFound model_not_found model_not_supported WorkSpaceNotFound NotFound SomethingNew',
        404,
        'access',
      ],
      [
        `Throttling Throttling.RateQuota Throttling.BurstRate Throttling.Concurrency
        Throttling.ServiceOverloaded Throttling.AllocationQuota LimitRequests limit_requests insufficient_quota SomethingNew`,
        429,
        'throttled',
      ],
      ['ResourceExhausted CommodityNotPurchased PrepaidBillOverdue PostpaidBillOverdue', 429, 'access'],
      ['ModelServingError', 500, 'throttled'],
      ['ModelServingError ModelUnavailable', 503, 'throttled'],
      [
        'InternalError InternalError.Algo SystemError ModelServiceFailed RewriteFailed SomethingNew',
        500,
        'error',
      ],
      ['ServiceUnavailable', 503, 'error'],
      ['InternalError.Timeout RequestTimeOut ResponseTimeout', 500, 'timeout'],
      ['RequestTimeOut ResponseTimeout', 503, 'timeout'],
      ['GatewayTimeout', 504, 'timeout'],
      ['GatewayTimeout.InputDownload', 504, 'slow-input'],
      // A failed task has no HTTP status: the same code means the same.
      ['InvalidParameter InvalidParameter.FileDownload InvalidFile.Size InvalidURL', undefined, 'input'],
      ['Throttling', undefined, 'throttled'],
      ['InternalError InternalError.Algo FAILED CANCELED SomethingNew', undefined, 'error'],
      ['InternalError.Timeout', undefined, 'timeout'],
    ]),
  )('%s with status %p means %s', (code, status, errorClass) => {
    expect(classOf(MODEL_STUDIO_ERRORS, code, status)).toBe(errorClass);
  });

  test.each<[string, string, ErrorClass]>([
    ['InvalidParameter', 'The image content does not comply with green network verification.', 'content'],
    ['InvalidParameter', '<400> InternalError.Algo.DataInspectionFailed: Input text', 'content'],
    ['InternalError.Algo', '<400> InternalError.Algo.InvalidParameter: url error', 'input'],
    ['InvalidParameter', 'Model not exist.', 'access'],
    ['Throttling.AllocationQuota', 'Free allocated quota exceeded.', 'access'],
    [
      'Throttling.AllocationQuota',
      'Allocated quota exceeded, please increase your quota limit.',
      'throttled',
    ],
  ])('%s, "%s", means %s', (code, message, errorClass) => {
    expect(classify(MODEL_STUDIO_ERRORS, preciseError({ code, message }), 400).errorClass).toBe(errorClass);
  });
});

describe('an error of fal', () => {
  test.each(
    cases([
      ['content_policy_violation', 422, 'content'],
      [
        `file_download_error file_too_large image_too_small image_too_large image_aspect_ratio_error image_load_error
        face_detection_error unsupported_image_format unsupported_audio_format audio_duration_too_long video_duration_too_short
        greater_than less_than_equal one_of missing value_error string_too_long no_media_generated SomethingNew`,
        422,
        'input',
      ],
      ['image_too_small file_download_error missing', undefined, 'input'],
      ['internal_server_error downstream_service_unavailable runner_server_error SomethingNew', 500, 'error'],
      ['downstream_service_error', 400, 'error'],
      ['request_timeout startup_timeout generation_timeout SomethingNew', 504, 'timeout'],
      ['runner_scheduling_failure SomethingNew', 503, 'error'],
      ['client_cancelled client_disconnected', 499, 'error'],
      ['concurrent_requests_limit SomethingNew', 429, 'throttled'],
      ['runner_disconnected internal_error SomethingNew', undefined, 'error'],
    ]),
  )('%s with status %p means %s', (code, status, errorClass) => {
    expect(classOf(FAL_ERRORS, code, status)).toBe(errorClass);
  });
});

describe('a code that no list has', () => {
  test.each(
    cases([
      ['image_moderation_blocked PromptPolicyViolation', 400, 'content'],
      ['too_many_requests UserRateLimited', 400, 'throttled'],
      ['InvalidCredential account_suspended insufficient_balance PermissionDenied', 400, 'access'],
      ['InvalidThing missing_field unsupported_codec ImageTooLarge', 400, 'input'],
      ['InvalidThing ImageTooLarge video_download_failed', undefined, 'input'],
      ['DeadlineExceeded upstream_timeout', undefined, 'timeout'],
      ['InternalFailure service_unavailable', 400, 'error'],
      // Its words tell nothing: the status does.
      ['Xyz', 400, 'input'],
      ['Xyz', 413, 'input'],
      ['Xyz', 402, 'access'],
      ['Xyz', 405, 'error'],
      ['Xyz', 500, 'error'],
      ['Xyz', undefined, 'error'],
      // A 5xx may have been taken, whatever it is called.
      ['rate_limit too_many_requests', 503, 'error'],
    ]),
  )('%s with status %p means %s, whoever sends it', (code, status, errorClass) => {
    for (const errors of [ARK_ERRORS, MODEL_STUDIO_ERRORS, FAL_ERRORS])
      expect(classOf(errors, code, status)).toBe(errorClass);
  });
});

describe('the input that was refused', () => {
  test.each<[string, ProviderErrors, { code: string; message?: string; at?: string }, InputFault]>([
    [
      'a path in a video of ModelArk',
      ARK_ERRORS,
      {
        code: 'InvalidParameter',
        message:
          'The parameter `content[2].image_url` specified in the request is not valid: its server answered 403.',
      },
      { reason: 'unfetched', status: 403, medium: 'image', file: 1 },
    ],
    [
      'a path in images of ModelArk',
      ARK_ERRORS,
      { code: 'InvalidParameter', at: 'image[3]', message: 'its sides must be longer than 14 px' },
      { reason: 'size', file: 3 },
    ],
    [
      'a field of ModelArk',
      ARK_ERRORS,
      { code: 'InvalidParameter', at: 'size', message: 'image size must be at least 3686400 pixels' },
      { reason: 'small', medium: 'image', field: 'size' },
    ],
    [
      'a person in a picture',
      ARK_ERRORS,
      {
        code: 'InputImageSensitiveContentDetected.PrivacyInformation',
        message: "the input image 'content[1]' may contain real person",
      },
      { reason: 'content', medium: 'image', file: 0 },
    ],
    [
      'a text',
      ARK_ERRORS,
      { code: 'InputTextSensitiveContentDetected' },
      { reason: 'content', field: 'prompt' },
    ],
    [
      'a length',
      MODEL_STUDIO_ERRORS,
      {
        code: 'InvalidFile.Duration',
        message: 'Invalid file duration. The file duration must be 1 s ~ 15 s.',
      },
      { reason: 'duration' },
    ],
    [
      'frames',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidFile.FPS', message: 'Invalid video FPS. The video FPS must be 16 ~ 60.' },
      { reason: 'rate', medium: 'video' },
    ],
    [
      'a shape',
      MODEL_STUDIO_ERRORS,
      {
        code: 'InvalidFile.AspectRatio',
        message: 'Invalid file ratio. The file aspect ratio must be between 3:1 and 1:3.',
      },
      { reason: 'ratio' },
    ],
    [
      'a format',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidURL', message: 'File type is not supported. Allowed types are: .wav, .mp3.' },
      { reason: 'format' },
    ],
    [
      'a large sound',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidURL', message: 'File size is larger than 15MB.' },
      { reason: 'large' },
    ],
    [
      'a long sound',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidURL', message: 'The input audio is longer than 30s.' },
      { reason: 'duration', medium: 'audio' },
    ],
    [
      'a picture that cannot be read',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidParameter', message: 'Failed to decode the image during the data inspection.' },
      { reason: 'unreadable', medium: 'image' },
    ],
    [
      'a download that failed',
      MODEL_STUDIO_ERRORS,
      {
        code: 'InvalidParameter',
        message: 'Unable to download the media resource during the data inspection process.',
      },
      { reason: 'unfetched' },
    ],
    [
      'a download that took too long',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidURL.Timeout', message: 'Download x timeout, please check network connection.' },
      { reason: 'slow' },
    ],
    [
      'a path in a video of Model Studio',
      MODEL_STUDIO_ERRORS,
      {
        code: 'InvalidParameter',
        message: 'The file of input.media[1] is not valid: it has fewer than 16 fps.',
      },
      { reason: 'rate', medium: 'video', file: 1 },
    ],
    [
      'only a code',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidImageFormat' },
      { reason: 'format', medium: 'image' },
    ],
    [
      'a text for Model Studio',
      MODEL_STUDIO_ERRORS,
      { code: 'DataInspectionFailed', message: 'Input text data may contain inappropriate content.' },
      { reason: 'content', field: 'prompt' },
    ],
    [
      'a picture for Model Studio',
      MODEL_STUDIO_ERRORS,
      { code: 'DataInspectionFailed', message: 'Input image data may contain inappropriate content.' },
      { reason: 'content', medium: 'image' },
    ],
    [
      'an input for Model Studio',
      MODEL_STUDIO_ERRORS,
      {
        code: 'IPInfringementSuspect',
        message: 'Input data is suspected of being involved in IP infringement.',
      },
      { reason: 'content' },
    ],
    [
      'a reference of fal',
      FAL_ERRORS,
      { code: 'file_download_error', at: 'reference_video_urls[1]', message: 'Failed to download the file.' },
      { reason: 'unfetched', field: 'referenceVideos[1]' },
    ],
    [
      'a frame of fal',
      FAL_ERRORS,
      { code: 'image_too_small', at: 'start_image_url' },
      { reason: 'small', medium: 'image', field: 'image' },
    ],
    [
      'content of fal',
      FAL_ERRORS,
      { code: 'content_policy_violation', at: 'prompt' },
      { reason: 'content', field: 'prompt' },
    ],
  ])('is told by the words of the maker: %s', (_, errors, error, input) => {
    expect(classify(errors, error, 400).input).toEqual(input);
  });

  test.each<[string, ProviderErrors, { code: string; message?: string }]>([
    ['ModelArk', ARK_ERRORS, { code: 'OutputVideoSensitiveContentDetected.PolicyViolation' }],
    [
      'Model Studio',
      MODEL_STUDIO_ERRORS,
      { code: 'DataInspectionFailed', message: 'Output data may contain inappropriate content.' },
    ],
  ])('is none where the output was: %s', (_, errors, error) => {
    expect(classify(errors, error)).toEqual({ errorClass: 'content', isOfOutput: true });
  });

  test.each<[string, ProviderErrors, { code: string; message?: string }]>([
    [
      'Model Studio',
      MODEL_STUDIO_ERRORS,
      { code: 'DataInspectionFailed', message: 'Input or output data may contain inappropriate content.' },
    ],
    ['fal', FAL_ERRORS, { code: 'content_policy_violation', message: 'The content was flagged.' }],
  ])('is not known where the maker does not say: %s', (_, errors, error) => {
    expect(classify(errors, error)).toEqual({ errorClass: 'content' });
  });
});

describe('an error in a body', () => {
  const INNER = { code: 'InvalidParameter', message: 'why', at: undefined };

  test.each<[string, unknown]>([
    ['flat', { code: 'InvalidParameter', message: 'why', request_id: 'r' }],
    ['below error', { error: { code: 'InvalidParameter', message: 'why' } }],
    [
      'as the public gateway of the maker writes it',
      { ResponseMetadata: { Error: { CodeN: 1, Code: 'InvalidParameter', Message: 'why' } } },
    ],
    [
      'as JSON in a message',
      { code: 'fail', message: '{"error":{"code":"InvalidParameter","message":"why"}}' },
    ],
    [
      'after words',
      { error: { message: 'upstream: {"code":"InvalidParameter","message":"why"}', type: 'upstream_error' } },
    ],
    ['as a text', '{"code":"InvalidParameter","message":"why"}'],
  ])('is found %s', (_, body) => {
    expect(errorIn(body)).toEqual(INNER);
  });

  test.each([
    null,
    undefined,
    [],
    'text',
    {},
    { code: null },
    { code: 0, data: {} },
    { code: '' },
    { error: {} },
  ])('is none in %j', (body) => {
    expect(errorIn(body)).toBeUndefined();
  });

  test('has a number for a code as text, and ends with its depth', () => {
    expect(errorIn({ error: { code: 1301, message: 'x' } })).toEqual({
      code: '1301',
      message: 'x',
      at: undefined,
    });
    let deep: unknown = { code: 'Deep' };
    for (let depth = 0; depth < 20; depth++) deep = { error: deep };
    expect(errorIn(deep)).toBeUndefined();
  });
});
