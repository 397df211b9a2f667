import { describe, expect, test } from '@jest/globals';
import { takenOf } from '../../../../core/provider-calls/attempt-rules.ts';
import type { AttemptOutcome } from '../../../../core/provider-calls/provider-attempts.ts';

const failure = { code: 'provider_error', message: 'broke' } as const;

describe('whether a provider took a call', () => {
  test.each<[AttemptOutcome | undefined, 'no' | 'unknown' | 'yes']>([
    [undefined, 'unknown'],
    [{ kind: 'busy', reason: 'full' }, 'no'],
    [{ kind: 'accepted', taskId: 'task-1' }, 'yes'],
    [{ kind: 'done', outputs: [{ url: 'a' }] }, 'yes'],
    [{ kind: 'failed', failure, taken: 'no' }, 'no'],
    [{ kind: 'failed', failure, taken: 'yes' }, 'yes'],
    [{ kind: 'failed', failure, taken: 'unknown' }, 'unknown'],
    [{ kind: 'failed', failure }, 'unknown'],
    [{ kind: 'lost', failure }, 'unknown'],
  ])('is told by its outcome %j: %p', (outcome, taken) => {
    expect(takenOf({ outcome })).toBe(taken);
  });

  test('is certain once there is a task, whatever became of it', () => {
    for (const outcome of [
      { kind: 'failed', failure },
      { kind: 'lost', failure },
    ] as const) {
      expect(takenOf({ taskId: 'task-1', outcome })).toBe('yes');
    }
  });
});
