import { describe, expect, test } from '@jest/globals';
import type { ErrorClass } from '../../../providers/failures.ts';
import { classifyArkError } from '../../../providers/modelark/errors.ts';
import { classifyModelStudioError } from '../../../providers/modelstudio/errors.ts';

type Row = [codes: string, status: number | undefined, errorClass: ErrorClass];
/** One case for each code of each row, which a space or a line ends. */
const cases = (rows: Row[]): [string, number | undefined, ErrorClass][] =>
  rows.flatMap(([codes, status, errorClass]) =>
    codes.split(/\s+/).map((code): [string, number | undefined, ErrorClass] => [code, status, errorClass]),
  );

const SENSITIVE = ['Text', 'Image', 'Video', 'Audio']
  .map((kind) => `Input${kind}SensitiveContentDetected Output${kind}SensitiveContentDetected`)
  .join(' ');

describe('an error of ModelArk', () => {
  test.each(
    cases([
      [
        `MissingParameter MissingParameter.prompt InvalidParameter InvalidParameter.size
        InvalidImageURL.EmptyURL`,
        400,
        'input',
      ],
      ['InvalidEndpoint.ClosedEndpoint ContentSecurityDetectionError', 400, 'error'],
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
        SomethingNew`,
        403,
        'access',
      ],
      [
        `InvalidEndpointOrModel.NotFound InvalidEndpointOrModel.ModelIDAccessDisabled ModelNotOpen
        SomethingNew`,
        404,
        'access',
      ],
      ['InvalidAccountStatus OperationDenied.ServiceNotOpen SetLimitExceeded', 400, 'access'],
      [
        `RateLimitExceeded.EndpointRPMExceeded RateLimitExceeded.EndpointTPMExceeded
        ModelAccountRpmRateLimitExceeded ModelAccountTpmRateLimitExceeded
        ModelAccountIpmRateLimitExceeded APIAccountRpmRateLimitExceeded AccountRateLimitExceeded
        RequestBurstTooFast ServerOverloaded InflightBatchsizeExceeded SomethingNew`,
        429,
        'busy',
      ],
      ['QuotaExceeded SetLimitExceeded', 429, 'quota'],
      ['InternalServiceError ServerOverloaded SomethingNew', 500, 'error'],
      // Inside a result there is no HTTP status.
      ['OutputImageSensitiveContentDetected OutputImageRiskDetection', undefined, 'content'],
      ['InvalidParameter.image', undefined, 'input'],
      ['InternalServiceError ServerOverloaded SomethingNew', undefined, 'error'],
    ]),
  )('%s with status %p means %s', (code, status, errorClass) => {
    expect(classifyArkError(status, code)).toBe(errorClass);
  });
});

describe('an error of Model Studio', () => {
  test.each(
    cases([
      ['DataInspectionFailed data_inspection_failed IPInfringementSuspect', 400, 'content'],
      ['DataInspectionFailed IPInfringementSuspect', undefined, 'content'],
      ['InvalidParameter.DataInspection', 400, 'input'],
      ['InternalError.DataInspection', 500, 'input'],
      [
        `InvalidParameter InvalidParameter.FileDownload BadRequest.EmptyInput
        BadRequest.UnsupportedFileFormat BadRequest.TooLarge BadRequest.InputDownloadFailed InvalidURL`,
        400,
        'input',
      ],
      ['UnsupportedOperation', 400, 'error'],
      ['InvalidApiKey SomethingNew', 401, 'access'],
      [
        `AccessDenied AccessDenied.Unpurchased Model.AccessDenied Workspace.AccessDenied
        AllocationQuota.FreeTierOnly SomethingNew`,
        403,
        'access',
      ],
      ['Arrearage', 400, 'access'],
      ['ModelNotFound WorkSpaceNotFound NotFound SomethingNew', 404, 'access'],
      [
        `Throttling Throttling.RateQuota Throttling.BurstRate Throttling.Concurrency
        Throttling.ServiceOverloaded LimitRequests SomethingNew`,
        429,
        'busy',
      ],
      [
        `Throttling.AllocationQuota ResourceExhausted CommodityNotPurchased PrepaidBillOverdue`,
        429,
        'access',
      ],
      ['InternalError SystemError ModelServiceFailed SomethingNew', 500, 'error'],
      ['ServiceUnavailable ModelUnavailable', 503, 'error'],
      ['InternalError.Timeout RequestTimeOut ResponseTimeout', 500, 'timeout'],
      ['RequestTimeOut ResponseTimeout', 503, 'timeout'],
      ['GatewayTimeout', 504, 'timeout'],
      ['GatewayTimeout.InputDownload', 504, 'slow-input'],
      // A failed task has no HTTP status.
      ['InvalidParameter InvalidParameter.FileDownload', undefined, 'input'],
      ['Throttling InternalError FAILED CANCELED', undefined, 'error'],
      ['InternalError.Timeout', undefined, 'timeout'],
    ]),
  )('%s with status %p means %s', (code, status, errorClass) => {
    expect(classifyModelStudioError(status, code)).toBe(errorClass);
  });
});
