import type { ErrorClass } from '../failures.ts';

/** Families of content decisions; new suffixes keep appearing, so they are matched as parts of the code. */
const CONTENT = /SensitiveContentDetected|RiskDetection(?!Error)|^InputText.*PolicyViolation/;
/** The operator's own limit or an exhausted trial: waiting does not heal it. */
const EXHAUSTED = /^(QuotaExceeded|SetLimitExceeded)/;
const ACCESS =
  /^(AuthenticationError|InvalidAccountStatus|AccountOverdueError|AccessDenied|OperationDenied|InvalidEndpointOrModel|ModelNotOpen)/;

/**
 * What a ModelArk error code means. `status` is that of the HTTP answer; a code inside a result has none.
 * A 5xx is no invitation to call again: the image may exist.
 */
export const classifyArkError = (status: number | undefined, code: string): ErrorClass => {
  if (CONTENT.test(code)) return 'content';
  if (EXHAUSTED.test(code) || ACCESS.test(code)) return 'access';
  if (status === 401 || status === 403 || status === 404) return 'access';
  if (status === 429) return 'busy';
  return 'error';
};
