import * as z from 'zod/mini';
import { RECONCILER_RUN_KEY } from '../table/keys.ts';
import { getItem, setAll, type UpdateParts, updateOf } from '../table/table.ts';
import { writeUnlessRefused } from '../table/transactions.ts';
import { latestEndMs } from '../time.ts';

/** A run counts as alive for this long after its last tick. */
const ALIVE_MS = 10_000;
/** A run whose minute is over counts as alive until the schedule starts the next one: no other has to be started. */
const HANDOVER_MS = 3_000;

/** The run of the reconciler that is at work, or the last one. It is alive until `aliveUntilMs`, in epoch milliseconds. */
const ReconcilerRun = z.object({
  runId: z.optional(z.string()),
  /** The function to invoke for another run. */
  functionName: z.string(),
  aliveUntilMs: z.number(),
  /** Whether its minute is over. It makes no more calls then. */
  isOver: z.catch(z.optional(z.boolean()), undefined),
});
export type ReconcilerRun = z.infer<typeof ReconcilerRun>;

/** Access pattern 70: the run that is at work, or the last one, strongly consistent; undefined before the first. */
export const findReconcilerRun = async (): Promise<ReconcilerRun | undefined> => {
  const item = await getItem(RECONCILER_RUN_KEY);
  return item && ReconcilerRun.parse(item);
};

/** Whether a run is alive. One that a clock far ahead kept alive is not. */
export const isAlive = (run: ReconcilerRun | undefined, now: Date): boolean =>
  run !== undefined && run.aliveUntilMs > now.getTime() && run.aliveUntilMs <= latestEndMs(now, ALIVE_MS);

/** Whether a run is at work. */
export const isReconcilerAlive = async (now: Date): Promise<boolean> =>
  isAlive(await findReconcilerRun(), now);

/** Access pattern 71: makes this run the one at work, whichever was before. With `ifDead`, only when none is alive; false when one is. */
export const beginRun = (
  runId: string,
  functionName: string,
  now: Date,
  { ifDead = false }: { ifDead?: boolean } = {},
): Promise<boolean> => {
  const nowMs = now.getTime();
  return updateRun({
    ...setAll(
      { runId, functionName, aliveUntilMs: nowMs + ALIVE_MS, isOver: false },
      ifDead ? { ':now': nowMs, ':latest': latestEndMs(now, ALIVE_MS), ':true': true } : {},
    ),
    ...(ifDead && {
      ConditionExpression:
        'attribute_not_exists(aliveUntilMs) OR aliveUntilMs <= :now OR aliveUntilMs > :latest OR isOver = :true',
    }),
  });
};

/** Access pattern 71: renews this run, or ends the run without work or after its minute. False when another run has taken over. */
export const renewRun = (
  runId: string,
  now: Date,
  end?: 'without-work' | 'minute-over',
): Promise<boolean> => {
  const aliveMs = { 'without-work': 0, 'minute-over': HANDOVER_MS, none: ALIVE_MS }[end ?? 'none'];
  return updateRun({
    UpdateExpression: 'SET aliveUntilMs = :until, isOver = :over',
    ConditionExpression: 'runId = :run',
    ExpressionAttributeValues: {
      ':until': now.getTime() + aliveMs,
      ':over': end !== undefined,
      ':run': runId,
    },
  });
};

/**
 * Access pattern 71: claims the start of a new run after a dead run. Of all callers that saw the same dead run, one caller gets
 * true, and starts the new run.
 */
export const claimStart = (seen: ReconcilerRun, now: Date): Promise<boolean> =>
  updateRun({
    UpdateExpression: 'SET aliveUntilMs = :until',
    ConditionExpression: 'aliveUntilMs = :seen',
    ExpressionAttributeValues: { ':until': now.getTime() + ALIVE_MS, ':seen': seen.aliveUntilMs },
  });

/** Access pattern 71: names the function to invoke for a run, before the first run or when its name has changed. */
export const nameReconciler = (functionName: string): Promise<boolean> =>
  updateRun({
    UpdateExpression: 'SET functionName = :name, aliveUntilMs = if_not_exists(aliveUntilMs, :never)',
    ExpressionAttributeValues: { ':name': functionName, ':never': 0 },
  });

/** Updates the item of the run. False when the condition refuses. */
const updateRun = (expressions: UpdateParts): Promise<boolean> =>
  writeUnlessRefused(updateOf(RECONCILER_RUN_KEY, expressions));
