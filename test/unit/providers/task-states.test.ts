import { describe, expect, test } from '@jest/globals';
import { type TaskState, taskStateOf } from '../../../providers/task-states.ts';

/** The words of the makers and of gateways before them, each as some of them spell it. */
const WORDS: Record<TaskState, string> = {
  unfinished: `queued pending running processing in_queue IN_PROGRESS submitted starting`,
  succeeded: `succeeded success succeed completed finished done`,
  failed: `failed failure error cancelled canceled aborted rejected terminated`,
  'timed-out': `expired timeout timed_out`,
};
const words = (Object.entries(WORDS) as [TaskState, string][]).flatMap(([state, text]) =>
  text.split(' ').map((word): [string, TaskState] => [word, state]),
);

/** A word in every spelling: makers write `SUCCEEDED`, `Succeeded`, `IN_PROGRESS`, `in-progress` and `InProgress`. */
const spellings = (word: string): string[] => {
  const parts = word.toLowerCase().split('_');
  const capital = parts.map((part) => part.slice(0, 1).toUpperCase() + part.slice(1));
  const joined = ['', '_', '-', ' '].flatMap((between) => [parts.join(between), capital.join(between)]);
  return [...new Set([...joined, ...joined.map((one) => one.toUpperCase())])];
};

describe('the status of a task', () => {
  test.each(words)('%s means %s, in every spelling', (word, state) => {
    for (const spelling of spellings(word))
      expect([spelling, taskStateOf(spelling)]).toEqual([spelling, state]);
  });

  test.each(['', 'UNKNOWN', 'not_done', 'unfinished', 'success_rate', 'partially failed', '0', '—'])(
    'of %j is not known: no word of another state is found within',
    (status) => {
      expect(taskStateOf(status)).toBeUndefined();
    },
  );
});
