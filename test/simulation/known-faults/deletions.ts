import {
  DELETED_REQUEST_PREFIX,
  requestPartition,
  webhookAttemptPartition,
} from '../../../core/table/keys.ts';
import type { Deployment } from '../world/aws/step-functions.ts';
import { webhookUrlOf } from '../world/upstream/receivers.ts';
import { EMAIL, inEach, inService, type Service } from './service.ts';

const HOUR_MS = 3_600_000;
/** The receiver takes 20 s, and an attempt is given up after 15 s. */
const ATTEMPT_UNDER_WAY_MS = 4_000;

/** What is left of a deleted request an hour later. */
export interface Left {
  /** The answer to its deletion, or to its end-user's. */
  deletionStatus: number;
  /** The answer to a read of it. */
  status: number;
  /** The sort keys of its items, but for the one that keeps late webhook attempts out. */
  items: string[];
  files: string[];
  /** Whether its deletion is still listed as unfinished. */
  isUnfinished: boolean;
}

const anHourLater = async (
  { world, call }: Service,
  requestId: string,
): Promise<Omit<Left, 'deletionStatus'>> => {
  await world.scheduler.advance(HOUR_MS);
  const { status } = await call({ route: 'get-generation', parameters: { requestId } });
  const isOf = ({ PK, SK }: { PK?: unknown; SK?: unknown }): boolean =>
    PK === requestPartition(requestId) || (PK === webhookAttemptPartition(requestId) && SK !== 'DELETED');
  return {
    status,
    items: [...world.table.items.values()].filter(isOf).map(({ SK }) => String(SK)),
    files: [...world.objects.keys()].filter((key) => key.includes(requestId)),
    isUnfinished: world
      .items(DELETED_REQUEST_PREFIX)
      .some((mark) => mark.requestId === requestId && mark.GSI1PK !== undefined),
  };
};

const LAGS = [20, 90, 180].map((lagSeconds) => ({ lagSeconds }));

/** An end-user is removed while the indexes are this far behind with their request. */
export const measureIndexLags = (deployment: Deployment): Promise<(Left & { lagSeconds: number })[]> =>
  inEach(
    deployment,
    LAGS,
    () => ({}),
    async (service, { lagSeconds }) => {
      const { world, createImage, call, until, record } = service;
      world.table.indexLagMs = (partition) =>
        partition.startsWith(requestPartition('')) ? lagSeconds * 1000 : 0;
      const requestId = await createImage('instant');
      await until(() => record(requestId)?.status === 'succeeded');
      const { status } = await call({ route: 'delete-end-user', parameters: { email: EMAIL } });
      return { deletionStatus: status, ...(await anHourLater(service, requestId)) };
    },
  );

/** A request is deleted while the caller's server has not answered an attempt of its webhook. */
export const measureWebhookTrace = (deployment: Deployment): Promise<Left> =>
  inService(deployment, {}, async (service) => {
    const { world, createImage, call, until, record } = service;
    const requestId = await createImage('instant', { webhookUrl: webhookUrlOf('slow') });
    await until(() => record(requestId)?.status === 'succeeded');
    await world.scheduler.advance(ATTEMPT_UNDER_WAY_MS);
    const { status: deletionStatus } = await call({ route: 'delete-generation', parameters: { requestId } });
    return { deletionStatus, ...(await anHourLater(service, requestId)) };
  });
