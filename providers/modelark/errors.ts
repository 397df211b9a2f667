import type { ErrorRow, ProviderErrors } from '../error-classes.ts';

/**
 * Codes of ModelArk, by its lists of errors as of 26 November 2026 (https://docs.byteplus.com/en/docs/modelark/1299023 and
 * https://www.volcengine.com/docs/82379/1299023). New suffixes keep appearing, so parts of codes are matched.
 */
const ROWS: readonly ErrorRow[] = [
  // The check of the content failed: no decision.
  { codes: /^ContentSecurityDetectionError/, is: 'error' },
  {
    codes: /^InputImage.*(SensitiveContentDetected|RiskDetection)/,
    is: 'content',
    refused: { medium: 'image' },
  },
  {
    codes: /^InputVideo.*(SensitiveContentDetected|RiskDetection)/,
    is: 'content',
    refused: { medium: 'video' },
  },
  {
    codes: /^InputAudio.*(SensitiveContentDetected|RiskDetection)/,
    is: 'content',
    refused: { medium: 'audio' },
  },
  { codes: /^Output.*(SensitiveContentDetected|RiskDetection)/, is: 'content', refused: 'output' },
  {
    codes: /^(InputText.*)?(SensitiveContentDetected|RiskDetection)|^InputText.*PolicyViolation/,
    is: 'content',
    refused: { field: 'prompt' },
  },
  { codes: /SensitiveContentDetected|RiskDetection/, is: 'content' },
  // Too many queued tasks or an exhausted trial, or the operator's own limit: the code does not tell which.
  { codes: /^(QuotaExceeded|SetLimitExceeded)/, is: 'quota' },
  {
    codes:
      /^(AuthenticationError|InvalidAccountStatus|InvalidSubscription|AccountOverdueError|AccessDenied|OperationDenied|InvalidEndpoint|ModelNotOpen|UnsupportedModel|NotFound)/,
    is: 'access',
  },
  {
    codes: /RateLimitExceeded|^(RequestBurstTooFast|ServerOverloaded|InflightBatchsizeExceeded)/,
    is: 'throttled',
  },
  { codes: /^InvalidImageURL\.EmptyURL/, is: 'input', reason: 'unfetched', refused: { medium: 'image' } },
  { codes: /^InvalidImageURL/, is: 'input', reason: 'unreadable', refused: { medium: 'image' } },
  { codes: /^InvalidParameter\.OversizedImage/, is: 'input', reason: 'large', refused: { medium: 'image' } },
  {
    codes: /^InvalidParameter\.UnsupportedImageFormat/,
    is: 'input',
    reason: 'format',
    refused: { medium: 'image' },
  },
  // The text and the pictures are more than the model reads.
  { codes: /^OutofContextError/i, is: 'input', reason: 'large' },
  { codes: /^(MissingParameter|InvalidParameter|InvalidArgumentError|Duplicate\.)/, is: 'input' },
  { codes: /^InternalServiceError/, is: 'error' },
];

/** The errors that ModelArk documents. ModelArk names fields by their path in the body, in `param` and in the message. */
export const ARK_ERRORS: ProviderErrors = {
  rows: ROWS,
  places: [
    // The text comes first, then the files in their order.
    [/\bcontent\[0\]/, () => ({ field: 'prompt' })],
    [/\bcontent\[(\d+)\]/, (index) => ({ file: index - 1 })],
    [/\bimage\[(\d+)\]/, (index) => ({ file: index })],
    [/^image$|`image`/, () => ({ medium: 'image' })],
    [/^(prompt|text)$|`(prompt|text)`/, () => ({ field: 'prompt' })],
    [/^size$|`size`/, () => ({ field: 'size' })],
    [/^resolution$|`resolution`/, () => ({ field: 'resolution' })],
    [/^ratio$|`ratio`/, () => ({ field: 'ratio' })],
    [/^duration$|`duration`/, () => ({ field: 'durationSec' })],
    [/max_images/, () => ({ field: 'sequentialOptions.maxImages' })],
  ],
};
