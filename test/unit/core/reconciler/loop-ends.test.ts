import { SendTaskSuccessCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { expect, jest, test } from '@jest/globals';
import { enterQueue } from '../../../../core/admission/admission.ts';
import type { InTurn, TaskListing } from '../../../../core/provider-calls/providers.ts';
import { dueListing, requestKey } from '../../../../core/table/keys.ts';
import { systemClock } from '../../../../core/time.ts';
import { ACCOUNT_ID, aVideoRequest, putRequest, VIDEO_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { at, dueKeyOf, ended, executions, givenWaiting, listed, memory } from '../../builders/reconciling.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { beginRun, elapsed, passing, run, wait } from '../../builders/runs.ts';
import { answering } from '../../builders/waiting-request.ts';
import { idle } from './a-run.ts';

/** When the call that began last ended. */
let endedAt = 0;
/** A second after the run's time is over: a bucket that does not answer is tried three times, for one call after another. */
const ENDS_AT = 85;
/** A call that begins in the last seconds of a run, and ends at `ENDS_AT`. */
const slowAtTheEnd = async (): Promise<void> => {
  if (elapsed() >= 50) await wait(ENDS_AT - elapsed());
  endedAt = elapsed();
};

const WAN = 'modelstudio/wan';
const LIMITED = { 'xW3.0s': { provider: 'modelstudio', upstreamModel: 'wan', maxRunning: 1 } };
const queueLate = async (): Promise<void> => {
  await wait(55);
  const createdAt = at(elapsed());
  const requestId = aRequestId(new Date(createdAt), 'vid');
  putRequest(memory, aVideoRequest({ requestId, createdAt }));
  memory.patch(requestKey(requestId), listed('CHECK', 3_700, requestId));
  const entry = { requestId, accountId: ACCOUNT_ID, createdAt, taskToken: requestId, tokenOrder: '0' };
  await enterQueue(WAN, { ...entry, weight: 1, starts: 1 }, systemClock);
};

/** Three tasks of a provider that lists them; they end at a second. `slow` is one of its calls. */
const listing = (endsAt: number, slow: 'list' | 'query') => {
  for (let count = 0; count < 3; count++) givenWaiting(0);
  const provider = answering({ kind: 'waiting' });
  provider.query.mockImplementation(async () => {
    if (slow === 'query') await slowAtTheEnd();
    return elapsed() < endsAt ? { kind: 'waiting' } : aDone('a');
  });
  const list = jest.fn(async (ids: readonly string[], inTurn: InTurn): Promise<TaskListing> => {
    await inTurn(async () => (slow === 'list' ? slowAtTheEnd() : undefined));
    const unfinished = new Set(elapsed() < endsAt ? ids : []);
    return { kind: 'listed', unfinished, isComplete: true };
  });
  return leadingTo({ ...provider, id: 'modelstudio', list });
};

test.each<[string, () => Promise<unknown>]>([
  [
    'admits',
    () =>
      withEnvironment({ MODEL_ROUTES: JSON.stringify(LIMITED) }, () => {
        givenWaiting(-1);
        executions.client.on(SendTaskSuccessCommand).callsFake(async () => {
          await slowAtTheEnd();
          return {};
        });
        return passing(Promise.all([beginRun(idle), queueLate()]));
      }),
  ],
  [
    'has files expire',
    () => {
      givenWaiting(-1);
      putRequest(memory, aVideoRequest({ ...ended, expiresAt: at(45) }));
      memory.patch(requestKey(VIDEO_ID), dueListing('EXPIRE', VIDEO_ID, at(45)));
      executions.client.on(StartExecutionCommand).callsFake(async () => {
        await slowAtTheEnd();
        return {};
      });
      return passing(beginRun(idle));
    },
  ],
  ['lists tasks', () => passing(beginRun(listing(Number.POSITIVE_INFINITY, 'list')))],
  ['queries a task that a list does not name', () => passing(beginRun(listing(55, 'query')))],
])('a run that %s at its end ends once that has ended: its process may be frozen', async (_, toEnd) => {
  endedAt = 0;

  await toEnd();

  expect(endedAt).toBeCloseTo(ENDS_AT, 1);
});

test('a run whose call never ends waits 40 s for it, and leaves the rest to the next one', async () => {
  const [hanging, other] = [givenWaiting(-2), givenWaiting(-1)];
  const provider = answering({ kind: 'waiting' });
  provider.query.mockImplementation((taskId) =>
    taskId === hanging ? new Promise(() => undefined) : Promise.resolve({ kind: 'waiting' }),
  );

  expect(await run(leadingTo(provider))).toBe(59 + 40);

  expect(dueKeyOf(hanging)).toEqual(listed('CHECK', -2, hanging));
  expect(String(dueKeyOf(other).GSI1SK) > at(59)).toBe(true);
});
