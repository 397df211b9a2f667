import { describe, expect, test } from '@jest/globals';
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
