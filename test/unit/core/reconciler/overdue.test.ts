import { describe, expect, test } from '@jest/globals';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import { overdueAt } from '../../../../core/reconciler/overdue.ts';
import type { StoredRequest } from '../../../../core/requests/request-rules.ts';
import { at } from '../../builders/clocks.ts';
import { anAttempt, anImageRequest, aStoredOutput } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aDone } from '../../builders/providers.ts';

const TIMES = { QUEUE_DEADLINE_SECONDS: '3600', IMAGE_DEADLINE_SECONDS: '600' };
const busy = { kind: 'busy', reason: 'full' } as const;
const task = { kind: 'accepted', taskId: 'task-1' } as const;

describe('a request is overdue half a minute after', () => {
  test.each<[string, Partial<StoredRequest>, ProviderAttempt[], string | undefined]>([
    ['its time in the queue, without a call', {}, [], at(3_630)],
    ['its deadline, from its first call on', {}, [anAttempt({ startedAt: at(100), outcome: task })], at(730)],
    [
      'its deadline, whichever route took the first call',
      {},
      [
        anAttempt({ startedAt: at(5), outcome: busy }),
        anAttempt({ startedAt: at(130), assignment: 2, attempt: 1, outcome: task }),
      ],
      at(635),
    ],
    ['never once something was produced', {}, [anAttempt({ outcome: aDone('a') })], undefined],
    [
      'never once an output is stored',
      { storedSoFar: [aStoredOutput(0)] },
      [anAttempt({ outcome: task })],
      undefined,
    ],
    ['never once its outputs are recorded', { outputs: [] }, [anAttempt({ outcome: task })], undefined],
  ])('%s', (_, more, attempts, expected) =>
    withEnvironment(TIMES, () => {
      const request = { ...anImageRequest({ createdAt: at(0) }), ...more } as StoredRequest;
      expect(overdueAt(request, attempts)).toBe(expected);
    }),
  );
});
