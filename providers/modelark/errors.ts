import type { ErrorClass } from '../failures.ts';

/** Codes of content decisions. New suffixes keep appearing, so parts of the code are matched. */
const CONTENT = /SensitiveContentDetected|RiskDetection(?!Error)|^InputText.*PolicyViolation/;
/** Too many queued tasks or an exhausted trial, or the operator's own limit: the answer does not tell which. */
const QUOTA = /^(QuotaExceeded|SetLimitExceeded)/;
const ACCESS =
  /^(AuthenticationError|InvalidAccountStatus|AccountOverdueError|AccessDenied|OperationDenied|InvalidEndpointOrModel|ModelNotOpen)/;
/** A field, or a file that cannot be had or used. */
const INPUT = /^(MissingParameter|InvalidParameter|InvalidImageURL)/;

/**
 * The class of a ModelArk error. `status` is the HTTP status, absent for a code inside a result. A 5xx is not
 * `busy`: the image may exist, so the call must not be repeated.
 */
export const classifyArkError = (status: number | undefined, code: string): ErrorClass => {
  if (CONTENT.test(code)) return 'content';
  if (QUOTA.test(code)) return status === 429 ? 'quota' : 'access';
  if (ACCESS.test(code)) return 'access';
  if (INPUT.test(code)) return 'input';
  if (status === 401 || status === 403 || status === 404) return 'access';
  if (status === 429) return 'busy';
  return 'error';
};
