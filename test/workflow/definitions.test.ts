import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import validate from 'asl-validator';
import type { ExpiredPage } from '../../core/deletion/list-expired-requests.ts';
import type { NextStep } from '../../core/executions/step-rules.ts';
import type { VerifiedBatch } from '../../core/ledger/ledger-runs.ts';
import type { DeliveryStep } from '../../core/webhooks/webhook-rules.ts';
import type { Retrier } from '../../packages/local-aws/src/aws/step-functions/interpreter/retries.ts';
import { ofType, type Resource, type ServiceTemplate, synthesizeService } from '../infra/service-template.ts';
import {
  type Definition,
  definitionFiles,
  definitionText,
  fragmentsOf,
  GONE,
  LASTING_RETRIER,
  placeholdersIn,
  reachableStates,
  readDefinition,
  type State,
  statesOf,
  successorsOf,
  THROTTLING_RETRIER,
  TRANSIENT_RETRIER,
  withRefused,
} from './asl.ts';

/** Tasks without a `Catch`, and why. */
const WITHOUT_CATCH: Record<string, string> = {
  'Settle request':
    'The outputs are stored and paid for: failing the request would be wrong, so the execution fails instead.',
  'Fail request': 'Every other catch leads here, so its own error fails the execution.',
  'List ledgers': 'The next day starts another execution, and the alarm tells that none was counted.',
  'List expired requests': 'The next minute starts another execution, and the alarm tells of this one.',
};

/**
 * Tasks that give up sooner when Lambda refuses the call, and why: the function may be gone for good.
 */
const GIVES_UP_SOONER: Record<string, { because: string; refused: Parameters<typeof withRefused>[1] }> = {
  'Settle request': { because: 'The reconciler settles the request.', refused: { MaxAttempts: 60 } },
  'Fail request': { because: 'The reconciler fails the request.', refused: { MaxAttempts: 60 } },
  'Deliver webhook': {
    because: 'Else it would repeat until its 14 days are over, unseen.',
    refused: { MaxAttempts: 100, MaxDelaySeconds: 900 },
  },
};

/** A wait under a task token catches this first: its end is no failure. */
const SILENCE = ['States.Timeout'];

/** The retriers of single tasks beside the usual ones, and why. Any other error of ours is a decision and is never retried. */
const OWN_RETRIERS: Record<string, { before?: Retrier[]; after?: Retrier[] }> = {
  'Dispatch request': {
    // Constant: another run is making the call and marks itself alive every 5 s.
    before: [
      { ErrorEquals: ['ProviderCallInFlightError'], IntervalSeconds: 5, BackoffRate: 1, MaxAttempts: 180 },
    ],
  },
  'Store outputs': {
    // Its function never answered: the outputs are paid for, and a repetition stores what is missing.
    after: [{ ...TRANSIENT_RETRIER, ErrorEquals: SILENCE, MaxAttempts: 2 }],
  },
};

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

/**
 * Seconds an invocation may take beyond its function's timeout: Lambda gives a cold start 10 s of its own
 * (https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html).
 */
const COLD_START_SECONDS = 10;

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

/** Whether a task waits under a task token. Its time limits then come from the step before. */
const isUnderToken = ({ Resource = '' }: State): boolean => Resource.endsWith('.waitForTaskToken');

const FILES = definitionFiles();
const TASKS = FILES.flatMap((file) =>
  statesOf(readDefinition(file))
    .filter(([, { Type }]) => Type === 'Task')
    .map(([name, task]) => ({ file, name, task })),
);

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

  test('retries transient errors and throttling as every other task of its workflow does, and no other errors but its own', () => {
    const isPaid = file === HOLDS_PAID_WORK;
    const usual = isPaid ? LASTING_RETRIER : TRANSIENT_RETRIER;
    const sooner = GIVES_UP_SOONER[name];
    const { before = [], after = [] } = OWN_RETRIERS[name] ?? {};

    expect(task.Retry).toEqual([
      ...before,
      { ...THROTTLING_RETRIER, ...(isPaid && { MaxAttempts: LASTING_RETRIER.MaxAttempts }) },
      ...(sooner ? withRefused(usual, sooner.refused) : [usual]),
      ...after,
    ]);
  });

  test('names only errors of ours that exist', () => {
    const ours = [...errors(task.Retry), ...errors(task.Catch)].filter((error) => !error.includes('.'));

    expect(errorNamesInCode()).toEqual(expect.arrayContaining(ours));
  });

  test('catches States.ALL last, and keeps its input beside the error', () => {
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

    const choices = statesOf(readDefinition(file)).flatMap(([, { Choices = [] }]) => Choices);
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

/** Whether a path from this state to itself leads only through errors and waits, so that only the execution's time limit ends it. */
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
    const { MaxDelaySeconds = 0, MaxAttempts = 0 } = LASTING_RETRIER;

    expect((MaxDelaySeconds / 2) * MaxAttempts).toBeGreaterThan(MAX_DEADLINE_SECONDS + MAX_STORING_SECONDS);
  });

  test('cover a queue, the longest deadline, and storing whose function twice never answers', () => {
    expect(readDefinition(HOLDS_PAID_WORK).TimeoutSeconds).toBeGreaterThan(
      MAX_QUEUE_SECONDS + MAX_DEADLINE_SECONDS + 4 * MAX_STORING_SECONDS,
    );
  });
});

describe('in the stack', () => {
  let service: ServiceTemplate;
  beforeAll(async () => {
    // The longest deadline a deployment can have.
    service = await synthesizeService({ imageDeadlineSeconds: 840 });
  });

  const stateMachineOf = (file: string): Resource['Properties'] => {
    const found = ofType(service.resources, 'AWS::StepFunctions::StateMachine').find(
      ([, { Properties }]) => Properties.DefinitionString === definitionText(file),
    );
    if (!found) throw new Error(`No state machine is defined by ${file}.`);
    return found[1].Properties;
  };

  test.each(FILES)('%s has every placeholder substituted and every substitution used', (file) => {
    const { DefinitionString, DefinitionSubstitutions } = stateMachineOf(file);

    expect(Object.keys(DefinitionSubstitutions).toSorted()).toEqual(
      placeholdersIn(DefinitionString).toSorted(),
    );
  });

  test.each(TASKS.filter(({ task }) => !isUnderToken(task)))(
    '$file: $name outlasts its function, so that States.Timeout never ends a task whose function still runs',
    ({ file, task }) => {
      expect(task.TimeoutSeconds).toBeGreaterThanOrEqual(
        functionTimeoutSeconds(file, task) + COLD_START_SECONDS,
      );
    },
  );

  const functionTimeoutSeconds = (file: string, task: State): number => {
    const [placeholder = ''] = placeholdersIn(task.Parameters?.FunctionName ?? '');
    const arn = stateMachineOf(file).DefinitionSubstitutions[placeholder];
    return service.resources[arn?.['Fn::GetAtt'][0]]?.Properties.Timeout;
  };
});
