import '../../builders/environment.ts';
import { expect, test } from '@jest/globals';
import { deadlineOf, storingEndOf } from '../../../../core/executions/step-rules.ts';
import type { RequestKind } from '../../../../core/ids.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { anAttempt } from '../../builders/entities.ts';
import { done } from '../../builders/outcomes.ts';

test.each<[RequestKind, number]>([
  ['image', 600],
  ['video', 3600],
])('each kind has its own deadline: an %s %p s after its first call', (kind, seconds) => {
  const deadline = (overrides: Partial<Record<RequestKind, number>> = {}) =>
    deadlineOf(
      { kind, firstCallAt: NOW.toISOString() },
      { deadlineSeconds: { image: 600, video: 3600, ...overrides } },
    );

  expect(deadline()).toBe(atSeconds(seconds).toISOString());
  expect(deadline({ [kind]: 7 })).toBe(atSeconds(7).toISOString());
});

test.each([
  // Produced at once: until the deadline. Produced late: 15 min.
  ['video', 10, 3600],
  ['video', 3599, 4499],
  ['image', 10, 910],
] as const)('an %s produced after %i s is stored until %i s after its first call', (kind, produced, end) => {
  const produce = (seconds: number, call: number) =>
    anAttempt({ call, finishedAt: atSeconds(seconds).toISOString(), outcome: done('a') });
  const settings = { deadlineSeconds: { image: 600, video: 3600 } };

  expect(storingEndOf(kind, [produce(produced, 0), produce(1, 1)], settings)).toBe(
    atSeconds(end).toISOString(),
  );
});
