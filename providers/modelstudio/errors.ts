import type { ErrorClass } from '../failures.ts';

const CONTENT = /^(DataInspectionFailed|data_inspection_failed|IPInfringementSuspect)$/;
/** Limits that time does not heal. */
const EXHAUSTED =
  /^(Throttling\.AllocationQuota|ResourceExhausted|CommodityNotPurchased|PrepaidBillOverdue|AllocationQuota\.)/;
const ACCESS =
  /^(InvalidApiKey|AccessDenied|Model\.AccessDenied|Workspace\.AccessDenied|Arrearage|ModelNotFound|WorkSpaceNotFound|NotFound)/;
const TIMEOUT = /^(InternalError\.Timeout|RequestTimeOut|ResponseTimeout|GatewayTimeout)/;

/**
 * What a Model Studio error code means. `status` is that of the HTTP answer; the code of a failed task has
 * none. `InvalidParameter.DataInspection` and `InternalError.DataInspection` name the inspection's own
 * trouble, such as a download that timed out, not a decision.
 */
export const classifyModelStudioError = (status: number | undefined, code: string): ErrorClass => {
  if (CONTENT.test(code)) return 'content';
  if (EXHAUSTED.test(code) || ACCESS.test(code)) return 'access';
  if (TIMEOUT.test(code)) return 'timeout';
  if (status === 401 || status === 403 || status === 404) return 'access';
  if (status === 429) return 'busy';
  return 'error';
};
