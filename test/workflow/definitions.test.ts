import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import validate from 'asl-validator';
import { ofType, type Resource, type ServiceTemplate, synthesizeService } from '../infra/service-template.ts';
import {
  type Definition,
  definitionFiles,
  definitionText,
  LAMBDA_TRANSIENT_ERRORS,
  placeholdersIn,
  reachableStates,
  readDefinition,
  type State,
  successorsOf,
} from './asl.ts';

/** Tasks without a `Catch`, and why: each is the last word on its request. */
const WITHOUT_CATCH: Record<string, string> = {
  'Settle request':
    'The outputs are stored and paid for: failing the request would be wrong, so the execution ends as failed.',
  'Fail request': 'It is where every other catch leads, so its own error ends the execution as failed.',
  'Expire request': 'Nobody waits for it: what cannot be removed is for operators to see.',
};

/** Errors of ours that go away by waiting. Any other one is a decision and is never retried. */
const OUR_TRANSIENT_ERRORS = [
  'ProviderBusyError',
  'ProviderCallInFlightError',
  'TransientError',
  'NotExpiredYetError',
  'FilesRemainError',
];

/** How retries wait: with full jitter, up to 30 s. */
const USUAL_PAUSES = { JitterStrategy: 'FULL', MaxDelaySeconds: 30 };
/** Errors whose retries wait otherwise, and why. */
const OTHER_PAUSES: Record<string, Partial<typeof USUAL_PAUSES>> = {
  // Even steps: another run is at work, and says every 5 s that it is.
  ProviderCallInFlightError: {},
  // A clock that is behind by moments: nobody else is in the way.
  NotExpiredYetError: {},
  // Files that cannot be removed for minutes may well be in hours.
  FilesRemainError: { JitterStrategy: 'FULL', MaxDelaySeconds: 3_600 },
};

/** What a wait under a token catches beside all else: that nothing was heard. It is no failure. */
const SILENCE = ['States.HeartbeatTimeout', 'States.Timeout'];

/**
 * Seconds that an invocation may take beyond its function's time limit: Lambda gives a cold start 10 s of
 * its own (https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html).
 */
const COLD_START_SECONDS = 10;

/** The names that errors of ours have: the literals their classes set. */
const errorNamesInCode = (): string[] => {
  const core = new URL('../../core/', import.meta.url);
  const files = readdirSync(core, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => new URL(file, core));
  return [...files, new URL('../../functions/workflow-task.ts', import.meta.url)]
    .map((file) => readFileSync(file, 'utf8'))
    .flatMap((source) => [...source.matchAll(/override name = '(\w+)';/g)].map(([, name = '']) => name));
};

/** Whether a task ends when somebody hands its token in: its limits are then told by the step before. */
const isUnderToken = ({ Resource = '' }: State): boolean => Resource.endsWith('.waitForTaskToken');

const FILES = definitionFiles();
const TASKS = FILES.flatMap((file) =>
  Object.entries(readDefinition(file).States)
    .filter(([, { Type }]) => Type === 'Task')
    .map(([name, task]) => ({ file, name, task })),
);

test('every error name the code is matched by is the name of one class', () => {
  const names = errorNamesInCode();

  expect(names).toEqual(expect.arrayContaining(OUR_TRANSIENT_ERRORS));
  expect(names).toHaveLength(new Set(names).size);
});

describe.each(FILES)('%s', (file) => {
  let definition: Definition;
  beforeAll(() => {
    definition = readDefinition(file);
  });

  test('is valid Amazon States Language', () => {
    // Given a copy: the validator writes into what it reads.
    const result = validate(structuredClone(definition));

    expect(result.errorsText()).toBe('');
    expect(result.isValid).toBe(true);
  });

  test('says what it is for, and ends in any case', () => {
    expect(definition.Comment).toMatch(/\w{3,}.*\.$/);
    expect(definition.TimeoutSeconds).toBeGreaterThan(0);
  });

  test('comes to each of its states, and to no other', () => {
    const known = Object.keys(definition.States);

    expect([...reachableStates(definition)].toSorted()).toEqual(known.toSorted());
    for (const state of Object.values(definition.States)) {
      for (const successor of successorsOf(state)) expect(known).toContain(successor);
    }
  });

  test('says of every choice what else to do', () => {
    for (const { Type, Default } of Object.values(definition.States)) {
      expect(Type === 'Choice').toBe(Default !== undefined);
    }
  });
});

describe.each(TASKS)('$file: $name', ({ name, task }) => {
  const errors = (branches: readonly { ErrorEquals: string[] }[] = []): string[] =>
    branches.flatMap(({ ErrorEquals }) => ErrorEquals);

  test('has a time limit, retries and a catch, or a reason for having none', () => {
    if (!isUnderToken(task)) expect(task.TimeoutSeconds).toBeGreaterThan(0);
    expect(task.Retry?.length).toBeGreaterThan(0);
    expect(task.Catch === undefined).toBe(Object.hasOwn(WITHOUT_CATCH, name));
  });

  test('retries what Lambda may do better the next time', () => {
    expect(errors(task.Retry)).toEqual(expect.arrayContaining(LAMBDA_TRANSIENT_ERRORS));
  });

  test('retries transient errors only, each in one place', () => {
    const retried = errors(task.Retry);

    expect([...OUR_TRANSIENT_ERRORS, ...LAMBDA_TRANSIENT_ERRORS]).toEqual(expect.arrayContaining(retried));
    expect(retried).toHaveLength(new Set(retried).size);
  });

  test('waits longer each time, with jitter, or as often at even steps as its reason needs', () => {
    for (const { ErrorEquals, JitterStrategy, MaxDelaySeconds, MaxAttempts } of task.Retry ?? []) {
      for (const error of ErrorEquals) {
        expect({ error, JitterStrategy, MaxDelaySeconds }).toEqual({
          error,
          ...(OTHER_PAUSES[error] ?? USUAL_PAUSES),
        });
      }
      expect(MaxAttempts).toBeGreaterThan(0);
    }
  });

  test('names errors of ours by the names they have', () => {
    const ours = [...errors(task.Retry), ...errors(task.Catch)].filter((error) => !error.includes('.'));

    expect(errorNamesInCode()).toEqual(expect.arrayContaining(ours));
  });

  test('catches everything last, and keeps its input beside the failure', () => {
    for (const [index, { ErrorEquals, ResultPath }] of (task.Catch ?? []).entries()) {
      const last = index === (task.Catch ?? []).length - 1;

      expect(ErrorEquals.includes('States.ALL')).toBe(last);
      if (last) expect(ErrorEquals).toEqual(['States.ALL']);
      expect(ResultPath).toBe(ErrorEquals.includes('States.HeartbeatTimeout') ? '$.silence' : '$.failure');
    }
  });

  test('that waits under a token gives it away, knows how long it waits, and catches the silence', () => {
    if (!isUnderToken(task)) return expect(JSON.stringify(task)).not.toMatch(/Heartbeat|Task\.Token/);

    expect(task.Parameters?.Payload?.['taskToken.$']).toBe('$$.Task.Token');
    expect(task.TimeoutSecondsPath).toMatch(/^\$\./);
    expect(task.HeartbeatSecondsPath).toMatch(/^\$\./);
    expect(task.Catch?.[0]?.ErrorEquals).toEqual(SILENCE);
  });
});

describe('with the stack around it', () => {
  let service: ServiceTemplate;
  beforeAll(() => {
    // The longest time limits a deployment can have.
    service = synthesizeService({ imageDeadlineSeconds: 840 });
  });

  const stateMachineOf = (file: string): Resource['Properties'] => {
    const found = ofType(service.resources, 'AWS::StepFunctions::StateMachine').find(
      ([, { Properties }]) => Properties.DefinitionString === definitionText(file),
    );
    if (!found) throw new Error(`No state machine is defined by ${file}.`);
    return found[1].Properties;
  };

  test.each(FILES)('%s has every placeholder supplied and every supply used', (file) => {
    const { DefinitionString, DefinitionSubstitutions } = stateMachineOf(file);

    expect(Object.keys(DefinitionSubstitutions).toSorted()).toEqual(
      placeholdersIn(DefinitionString).toSorted(),
    );
  });

  test.each(TASKS.filter(({ task }) => !isUnderToken(task)))(
    '$file: $name outlasts its function, so that States.Timeout ends no task whose function still runs',
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
