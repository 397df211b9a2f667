import type { ExecutionStatus } from '@aws-sdk/client-sfn';
import type { Failure } from '../errors.ts';
import { findWorkflowStatus, startWorkflow } from '../executions/executions.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { type Clock, systemClock } from '../time.ts';
import { closeRequest } from './close-request.ts';
import { endRequest } from './end-request.ts';
import { givenUp, removeFilesOfFailed } from './failed.ts';

/** The failure of a request whose execution stopped without ending it. */
const LOST_EXECUTION: Failure = {
  code: 'internal_error',
  message: 'The work on this request was lost on our side.',
};

/**
 * Repairs a request that may have lost its execution. A terminal request is closed. An execution that never started is started.
 * After an execution that stopped, the request is given up. Returns
 * true, and changes nothing, while an execution runs. `reportedEnd` is the status that Step Functions reported at the execution's
 * end. A dead execution is counted, also after the end of its request.
 */
export const reconcileRequest = async (
  requestId: string,
  clock: Clock = systemClock,
  reportedEnd?: ExecutionStatus,
): Promise<boolean> => {
  const request = await findRequest(requestId);
  if (!request) return false;
  if (isTerminal(request)) {
    if (reportedEnd !== undefined && reportedEnd !== 'ABORTED') countMetric(METRIC.executionLost, {});
    await closeRequest(requestId, removeFilesOfFailed, { clock });
    return false;
  }
  const status = await findWorkflowStatus(requestId, reportedEnd);
  if (status === 'RUNNING' || status === 'PENDING_REDRIVE') return true;
  logger.warn('a request without an execution', {
    requestId,
    kind: request.kind,
    status: status ?? 'NEVER_STARTED',
  });
  countMetric(METRIC.executionLost, {});
  if (status === undefined) await startWorkflow(request);
  else await endRequest(requestId, givenUp(LOST_EXECUTION), { clock });
  return false;
};
