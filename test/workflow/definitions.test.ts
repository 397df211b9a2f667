import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import validate from 'asl-validator';
import type { ExpiredPage } from '../../core/deletion/list-expired-requests.ts';
import type { NextStep } from '../../core/executions/step-rules.ts';
import type { VerifiedBatch } from '../../core/ledger/ledger-runs.ts';
import type { DeliveryStep } from '../../core/webhooks/webhook-rules.ts';
import {
  type Definition,
  FILES,
  fragmentsOf,
  GONE,
  isUnderToken,
  RETRIER,
  reachableStates,
  readDefinition,
  type State,
  statesOf,
  successorsOf,
  TASKS,
} from './asl.ts';

/** Tasks without a `Catch`, and why. */
const WITHOUT_CATCH: Record<string, string> = {
  'Fail request': 'Every other catch leads here, so its own error fails the execution.',
  'List ledgers': 'The next day starts another execution, and the alarm tells that none was counted.',
  'List expired requests': 'The next minute starts another execution, and the alarm tells of this one.',
};

/** How many attempts tasks have that give up sooner than those of a running request, and why. */
const GIVES_UP_SOONER: Record<string, { attempts: number; because: string }> = {
  'Settle request': { attempts: 150, because: 'The reconciler settles the request.' },
  'Fail request': { attempts: 150, because: 'The reconciler fails the request.' },
  'List expired requests': { attempts: 6, because: 'The next minute starts another execution.' },
  'Expire requests': { attempts: 6, because: 'The next minute starts another execution.' },
  'List ledgers': { attempts: 12, because: 'The next day starts another execution.' },
  'Verify ledgers': { attempts: 12, because: 'A run of its function takes 15 min.' },
};

/** Tasks whose pauses grow longer, and why. */
const WAITS_LONGER: Record<string, { attempts: number; seconds: number; because: string }> = {
  'Deliver webhook': {
    attempts: 100,
    seconds: 900,
    because:
      'A receiver may wait. After half a day, the function counts as gone: else it would repeat for 14 days, unseen.',
  },
};

/** Errors of ours that single tasks retry. Any other is a decision and is never retried. */
const OWN_RETRIED: Record<string, string[]> = {
  // Another run is making the call and marks itself alive every 5 s.
  'Dispatch request': ['ProviderCallInFlightError'],
};

/** Tasks that catch only errors that are no failure of theirs, and which. Any other error fails the execution. */
const CATCHES_ONLY: Record<string, string[]> = {
  // The outputs are stored and paid for: failing the request would be wrong, so the execution fails instead.
  'Settle request': ['RequestFailedError'],
};

/** A wait under a task token catches this first: its end is no failure. */
const SILENCE = ['States.Timeout'];

/** The workflow whose tasks hold what a provider was paid for: giving up would lose it. */
const HOLDS_PAID_WORK = 'generation.asl.json';
/** The longest deadline a deployment can have, and the time for storing after it. */
const MAX_DEADLINE_SECONDS = 5_400;
const MAX_STORING_SECONDS = 900;
/** The steps of functions, as their types have them. */
const GENERATION_STEPS = Object.keys({
  store: 0,
  wait: 0,
  queue: 0,
  retry: 0,
  stop: 0,
  fail: 0,
} satisfies Record<NextStep['next'], 0>);
const DELIVERY_STEPS = Object.keys({ wait: 0, stop: 0, 'give-up': 0 } satisfies Record<
  DeliveryStep['next'],
  0
>);
const EXPIRY_STEPS = Object.keys({ list: 0, stop: 0 } satisfies Record<ExpiredPage['next'], 0>);
const VERIFYING_STEPS = Object.keys({ verify: 0, stop: 0 } satisfies Record<VerifiedBatch['next'], 0>);

/** Tasks that answer with a step. */
const STEPS_OF_TASKS: Record<string, string[]> = {
  'Dispatch request': GENERATION_STEPS,
  'Query provider': GENERATION_STEPS,
  'Deliver webhook': DELIVERY_STEPS,
  'List expired requests': EXPIRY_STEPS,
  'List ledgers': VERIFYING_STEPS,
  'Verify ledgers': VERIFYING_STEPS,
};

/** A request may wait for capacity this long before its first call. */
const MAX_QUEUE_SECONDS = 7_200;

/** The names of our own errors: the literals their classes set, as a bundle renames the classes. */
const errorNamesInCode = (): string[] => {
  const core = new URL('../../core/', import.meta.url);
  const files = readdirSync(core, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => new URL(file, core));
  return [...files, new URL('../../functions/workflow-task.ts', import.meta.url)]
    .map((file) => readFileSync(file, 'utf8'))
    .flatMap((source) => [...source.matchAll(/override name = '(\w+)';/g)].map(([, name = '']) => name));
};

describe.each(FILES)('%s', (file) => {
  let definition: Definition;
  beforeAll(() => {
    definition = readDefinition(file);
  });

  test('is valid Amazon States Language', () => {
    // A copy, because the validator modifies its input.
    const result = validate(structuredClone(definition));

    expect(result.errorsText()).toBe('');
    expect(result.isValid).toBe(true);
  });

  test('has a comment and a time limit', () => {
    expect(definition.Comment).toMatch(/\w{3,}.*\.$/);
    expect(definition.TimeoutSeconds).toBeGreaterThan(0);
  });

  test('reaches each of its states and no other', () => {
    for (const fragment of fragmentsOf(definition)) {
      const known = Object.keys(fragment.States);

      expect([...reachableStates(fragment)].toSorted()).toEqual(known.toSorted());
      for (const state of Object.values(fragment.States)) {
        for (const successor of successorsOf(state)) expect(known).toContain(successor);
      }
    }
  });

  test('gives every choice a default', () => {
    for (const [, { Type, Default }] of statesOf(definition)) {
      expect(Type === 'Choice').toBe(Default !== undefined);
    }
  });

  test('bounds how many items each map handles at once', () => {
    for (const [, { Type, MaxConcurrency = 0 }] of statesOf(definition)) {
      if (Type === 'Map') expect(MaxConcurrency).toBeGreaterThan(0);
    }
  });
});

describe.each(TASKS)('$file: $name', ({ file, name, task }) => {
  const errors = (branches: readonly { ErrorEquals: string[] }[] = []): string[] =>
    branches.flatMap(({ ErrorEquals }) => ErrorEquals);

  test('has a time limit, and a catch or a reason for having none', () => {
    if (!isUnderToken(task)) expect(task.TimeoutSeconds).toBeGreaterThan(0);
    expect(task.Catch === undefined).toBe(Object.hasOwn(WITHOUT_CATCH, name));
  });

  test('has one retrier, of the shape that all have, for transient errors and no others but its own', () => {
    const { attempts, seconds } = {
      seconds: 30,
      attempts: 450,
      ...GIVES_UP_SOONER[name],
      ...WAITS_LONGER[name],
    };

    expect(task.Retry).toEqual([
      {
        ...RETRIER,
        ErrorEquals: [...RETRIER.ErrorEquals, ...(OWN_RETRIED[name] ?? [])],
        MaxDelaySeconds: seconds,
        MaxAttempts: attempts,
      },
    ]);
  });

  test('names only errors of ours that exist', () => {
    const ours = [...errors(task.Retry), ...errors(task.Catch)].filter((error) => !error.includes('.'));

    expect(errorNamesInCode()).toEqual(expect.arrayContaining(ours));
  });

  test('catches States.ALL last, and keeps its input beside the error', () => {
    if (CATCHES_ONLY[name]) {
      expect(task.Catch).toMatchObject([{ ErrorEquals: CATCHES_ONLY[name], ResultPath: '$.failure' }]);
      return;
    }
    for (const [index, { ErrorEquals, ResultPath }] of (task.Catch ?? []).entries()) {
      const last = index === (task.Catch ?? []).length - 1;

      expect(ErrorEquals.includes('States.ALL')).toBe(last);
      if (last) expect(ErrorEquals).toEqual(['States.ALL']);
      const isSilence = ErrorEquals.every((error) => SILENCE.includes(error));
      expect(ResultPath).toBe(isSilence ? '$.silence' : '$.failure');
    }
  });

  test('tells its function all steps that its definition knows, if the function answers with one', () => {
    const { knownSteps } = task.Parameters?.Payload ?? {};
    expect(knownSteps).toEqual(STEPS_OF_TASKS[name]);
    if (knownSteps === undefined) return;

    const choices = statesOf(readDefinition(file))
      .flatMap(([, { Choices = [] }]) => Choices)
      .filter(({ Variable }) => Variable?.endsWith('.next'));
    expect(knownSteps).toEqual(expect.arrayContaining(choices.map(({ StringEquals }) => StringEquals)));
  });

  test('that waits under a task token passes it on, has its time limit, and catches its end', () => {
    expect(JSON.stringify(task)).not.toContain('Heartbeat');
    if (!isUnderToken(task)) return expect(JSON.stringify(task)).not.toContain('Task.Token');

    expect(task.Parameters?.Payload?.['taskToken.$']).toBe('$$.Task.Token');
    expect(task.TimeoutSecondsPath).toMatch(/^\$\./);
    expect(task.Catch?.[0]?.ErrorEquals).toEqual(SILENCE);
  });
});

/**
 * Whether a path from this state to itself leads only through errors and waits: only the execution's time limit ends
 * such a loop.
 */
const repeatsAfter = (definition: Definition, name: string, error: string): boolean => {
  const nextAfterError = ({ Catch = [] }: State): string | undefined =>
    Catch.find(({ ErrorEquals }) => ErrorEquals.includes(error) || ErrorEquals.includes('States.ALL'))?.Next;
  const seen = new Set<string>();
  let at: string | undefined = name;
  while (at !== undefined && !seen.has(at)) {
    seen.add(at);
    const state: State | undefined = definition.States[at];
    at = state?.Type === 'Task' ? nextAfterError(state) : state?.Type === 'Wait' ? state.Next : undefined;
  }
  return at !== undefined;
};

describe.each(GONE)('a function that is gone: %s', (error) => {
  test.each(TASKS.filter(({ file }) => file === HOLDS_PAID_WORK || file.startsWith('webhook')))(
    'does not let $name of $file repeat until the time limit of the execution',
    ({ file, name }) => {
      expect(repeatsAfter(readDefinition(file), name, error)).toBe(false);
    },
  );
});

describe('the time limits of generation', () => {
  test('let its tasks be retried until the longest deadline, and the outputs be stored', () => {
    const { MaxDelaySeconds = 0, MaxAttempts = 0 } = RETRIER;

    expect((MaxDelaySeconds / 2) * MaxAttempts).toBeGreaterThan(MAX_DEADLINE_SECONDS + MAX_STORING_SECONDS);
  });

  test('cover a queue, the longest deadline, and storing whose function twice never answers', () => {
    expect(readDefinition(HOLDS_PAID_WORK).TimeoutSeconds).toBeGreaterThan(
      MAX_QUEUE_SECONDS + MAX_DEADLINE_SECONDS + 4 * MAX_STORING_SECONDS,
    );
  });
});
