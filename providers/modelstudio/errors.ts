import type { ErrorClass } from '../failures.ts';

const CONTENT = /^(DataInspectionFailed|data_inspection_failed|IPInfringementSuspect)$/;
/** Exhausted limits: waiting does not help. */
const EXHAUSTED =
  /^(Throttling\.AllocationQuota|ResourceExhausted|CommodityNotPurchased|PrepaidBillOverdue|AllocationQuota\.)/;
const ACCESS =
  /^(InvalidApiKey|AccessDenied|Model\.AccessDenied|Workspace\.AccessDenied|Arrearage|ModelNotFound|WorkSpaceNotFound|NotFound)/;
const TIMEOUT = /^(InternalError\.Timeout|RequestTimeOut|ResponseTimeout|GatewayTimeout)/;
/** A field, or a file that cannot be had, used or inspected. */
const INPUT = /^(InvalidParameter|BadRequest\.|InvalidURL|InternalError\.DataInspection)/;

/**
 * The class of a Model Studio error. `status` is the HTTP status, absent for a failed task.
 * `InvalidParameter.DataInspection` and `InternalError.DataInspection` are failures of the inspection itself, such
 * as a download that timed out, not content decisions.
 */
export const classifyModelStudioError = (status: number | undefined, code: string): ErrorClass => {
  if (CONTENT.test(code)) return 'content';
  if (EXHAUSTED.test(code) || ACCESS.test(code)) return 'access';
  if (INPUT.test(code)) return 'input';
  if (code === 'GatewayTimeout.InputDownload') return 'slow-input';
  if (TIMEOUT.test(code)) return 'timeout';
  if (status === 401 || status === 403 || status === 404) return 'access';
  if (status === 429) return 'busy';
  return 'error';
};
