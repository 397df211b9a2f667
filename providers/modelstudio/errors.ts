import { codesOf, type ToldError } from '../error-bodies.ts';
import type { ErrorRow, ProviderErrors, Refused } from '../error-classes.ts';
import { mediumIn } from '../input-reasons.ts';

/** The refused part, by the message of the content filter. Undefined for a message that names both sides, or none. */
const refusedIn = (message: string): Refused | undefined => {
  const [isInput, isOutput] = [/input/i, /output/i].map((side) => side.test(message));
  if (isOutput) return isInput ? undefined : 'output';
  if (/\b(text|prompt)\b/i.test(message)) return { field: 'prompt' };
  const medium = mediumIn(message);
  return medium === undefined ? (isInput ? {} : undefined) : { medium };
};

/**
 * Codes of Model Studio, by its list of errors as of 26 November 2026 (https://help.aliyun.com/en/model-studio/error-code), with the spellings of its
 * routes for OpenAI's clients.
 */
const ROWS: readonly ErrorRow[] = [
  // `InvalidParameter.DataInspection` and `InternalError.DataInspection` are failures of the inspection itself, such as a download.
  // The last two are the account's own rules.
  {
    codes:
      /(^|\.)DataInspectionFailed$|^(data_inspection_failed|IPInfringementSuspect|CustomRoleBlocked|FaqRuleBlocked)$/,
    is: 'content',
    refused: refusedIn,
  },
  {
    codes: /^InvalidParameter/,
    message: /green network|inappropriate content/i,
    is: 'content',
    refused: refusedIn,
  },
  { codes: /^Throttling\.AllocationQuota/, message: /free (allocated )?quota/i, is: 'access' },
  { codes: /^Throttling/, is: 'throttled', notTakenAt: [503] },
  { codes: /^(LimitRequests|limit_requests|limit_burst_rate|insufficient_quota)$/, is: 'throttled' },
  { codes: /^ModelServingError$/, is: 'throttled', notTakenAt: [500, 503] },
  { codes: /^ModelUnavailable$/, is: 'throttled', notTakenAt: [503] },
  {
    codes:
      /^(InvalidApiKey|invalid_api_key|AccessDenied|access_denied|NOT AUTHORIZED|Arrearage|ModelNotFound|model_not_found|model_not_supported|WorkSpaceNotFound|NotFound|CommodityNotPurchased|PrepaidBillOverdue|PostpaidBillOverdue|ResourceExhausted|AllocationQuota\.)|\.(AccessDenied|NotAuthori[sz]ed)$|access token/,
    is: 'access',
  },
  { codes: /^InvalidParameter/, message: /model not exist/i, is: 'access' },
  { codes: /^GatewayTimeout\.InputDownload$/, is: 'slow-input', reason: 'slow' },
  { codes: /^(InternalError\.Timeout|RequestTimeOut|ResponseTimeout|GatewayTimeout)/, is: 'timeout' },
  { codes: /^(InvalidParameter|InternalError)\.DataInspection$/, is: 'input', reason: 'unfetched' },
  { codes: /^InvalidFile\.NoHuman|^InvalidImage\.NoHumanFace|^InvalidPerson/, is: 'input', reason: 'value' },
  {
    codes:
      /^(InternalError\.Algo\.)?(InvalidParameter|InvalidFile|InvalidImage|InvalidURL|InvalidInputLength|InvalidGarment|BadRequest|Audio\.)|^invalid_(request_error|parameter|value)/,
    is: 'input',
  },
  {
    codes:
      /^(InternalError|internal_error|SystemError|ModelServiceFailed|ServiceUnavailable|InvokePluginFailed|AppProcessFailed|RewriteFailed|RetrievalFailed|UnsupportedOperation|FlowNotPublished|APIConnectionError|ClientDisconnect)/,
    is: 'error',
  },
];

/** The errors that Model Studio documents. Model Studio names fields in the message, by their path in the body. */
export const MODEL_STUDIO_ERRORS: ProviderErrors = {
  rows: ROWS,
  places: [
    [/\bmedia(?:\[|\.)(\d+)/, (index) => ({ file: index })],
    // The images come first, then the text.
    [/\bcontent(?:\[|\.)(\d+)\]?\.image/, (index) => ({ file: index })],
    [/\binput\.prompt\b|\bprompt\b/, () => ({ field: 'prompt' })],
    [/parameters\.size\b/, () => ({ field: 'size' })],
    [/parameters\.n\b/, () => ({ field: 'n' })],
    [/parameters\.resolution\b/, () => ({ field: 'resolution' })],
    [/parameters\.ratio\b/, () => ({ field: 'ratio' })],
    [/parameters\.duration\b/, () => ({ field: 'durationSec' })],
  ],
};

/** A general code with a precise one in its message: `InvalidParameter`, "<400> InternalError.Algo.InvalidParameter: …". */
const PREFIX = /^<\d{3}>/;

/** An error by its most precise code: the message of a general error often contains a more precise code. */
export const preciseError = (error: ToldError): ToldError => {
  const [code, inner] = codesOf(error);
  return inner !== undefined && PREFIX.test(error.message ?? '')
    ? { ...error, code: inner }
    : { ...error, code: code ?? error.code };
};
