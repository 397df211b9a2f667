import { beforeEach, jest } from '@jest/globals';
import { logger } from '../../../../core/observability.ts';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { elapsed, fakeTime, wait } from '../../builders/runs.ts';
import { answering } from '../../builders/waiting-request.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

/** The errors logged, and the metrics counted since the test began. */
export const logged = jest.spyOn(logger, 'error');
export let counted = metricsCounted();
beforeEach(() => {
  fakeTime();
  logged.mockReset();
  counted = metricsCounted();
});

/**
 * A provider whose answers take so many seconds: `answer` by default, and that a task is done from a second on. It records when each task was
 * queried, and the most queries at once.
 */
export const aTaskProvider = ({
  finishesAt = Number.POSITIVE_INFINITY,
  answer = { kind: 'waiting' } as ProviderAnswer,
  takes = 0,
} = {}) => {
  const recorded = { queriedAt: [] as number[], taskIds: [] as string[], most: 0 };
  let underWay = 0;
  const provider = answering(answer);
  provider.query.mockImplementation(async (taskId) => {
    recorded.queriedAt.push(elapsed());
    recorded.taskIds.push(taskId);
    recorded.most = Math.max(recorded.most, ++underWay);
    if (takes > 0) await wait(takes);
    underWay--;
    return elapsed() < finishesAt ? answer : aDone('a');
  });
  return { provider, recorded, routes: leadingTo(provider) };
};

/** Routes for a run whose tasks do not finish. */
export const idle = leadingTo(answering({ kind: 'waiting' }));
