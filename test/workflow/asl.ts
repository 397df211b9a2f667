import { readdirSync, readFileSync } from 'node:fs';
import type { Retrier } from '../../packages/local-aws/src/aws/step-functions/interpreter/retries.ts';

const folder = new URL('../../statemachines/', import.meta.url);

/**
 * Transient errors of Lambda: those AWS recommends to retry
 * (https://docs.aws.amazon.com/step-functions/latest/dg/bp-lambda-serviceexception.html), a function that timed
 * out, and one whose process died.
 */
const LAMBDA_TRANSIENT_ERRORS = [
  'Lambda.TooManyRequestsException',
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.Unknown',
  'Sandbox.Timedout',
  'Runtime.ExitError',
];

/**
 * The one shape in which every task retries: `TransientError` and the transient errors of Lambda, up to 30 s apart. Of `generation`, until
 * the longest deadline of a deployment has passed and the outputs had their time to be stored: with full jitter a pause is 15 s on average.
 */
export const RETRIER: Retrier = {
  ErrorEquals: ['TransientError', ...LAMBDA_TRANSIENT_ERRORS],
  IntervalSeconds: 2,
  BackoffRate: 2,
  MaxDelaySeconds: 30,
  MaxAttempts: 450,
  JitterStrategy: 'FULL',
};

/**
 * The name Step Functions gives to a missing permission, as after a function has left the stack. Some errors of Lambda that pass have
 * it too.
 */
export const REFUSED = 'Lambda.AWSLambdaException';
/** A function that was removed: by its own name while the role may call it. */
export const GONE = ['Lambda.ResourceNotFoundException', REFUSED];

/** The names of all definition files. */
export const definitionFiles = (): string[] => readdirSync(folder).toSorted();

/** The text of a definition file, as deployed. */
export const definitionText = (file: string): string => readFileSync(new URL(file, folder), 'utf8');

export interface Catcher {
  ErrorEquals: string[];
  ResultPath?: string;
  Next: string;
}

/** The fields of a state that the tests read. */
export interface State {
  Type: string;
  Comment?: string;
  Resource?: string;
  Parameters?: { FunctionName?: string; Payload?: Record<string, unknown> };
  TimeoutSeconds?: number;
  TimeoutSecondsPath?: string;
  Retry?: Retrier[];
  Catch?: Catcher[];
  Choices?: { Variable?: string; Next: string; StringEquals?: string }[];
  Default?: string;
  ErrorPath?: string;
  CausePath?: string;
  Next?: string;
  End?: boolean;
  MaxConcurrency?: number;
  ItemProcessor?: Fragment;
}

/** States that lead to each other: a machine's, or those that a Map runs for each item. */
export interface Fragment {
  StartAt: string;
  States: Record<string, State>;
}

export interface Definition extends Fragment {
  Comment?: string;
  TimeoutSeconds?: number;
}

/** A definition file, parsed. */
export const readDefinition = (file: string): Definition => JSON.parse(definitionText(file));

/** The names of a definition's `${…}` placeholders. */
export const placeholdersIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/\$\{([^}]*)\}/g)].map(([, name = '']) => name)),
];

/** Every state that may follow a state, by any transition. */
export const successorsOf = ({ Next, Default, Choices = [], Catch = [] }: State): string[] =>
  [Next, Default, ...[...Choices, ...Catch].map((branch) => branch.Next)].filter(
    (name): name is string => name !== undefined,
  );

/** A definition's own states, and those of each Map in it. */
export const fragmentsOf = (fragment: Fragment): Fragment[] => [
  fragment,
  ...Object.values(fragment.States).flatMap(({ ItemProcessor }) =>
    ItemProcessor ? fragmentsOf(ItemProcessor) : [],
  ),
];

/** Every state of a definition by name, those of its Maps included. */
export const statesOf = (definition: Definition): [string, State][] =>
  fragmentsOf(definition).flatMap(({ States }) => Object.entries(States));

/** The states that can be reached. */
export const reachableStates = ({ StartAt, States }: Fragment): Set<string> => {
  const reached = new Set<string>();
  const open = [StartAt];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const state = States[name];
    if (reached.has(name) || !state) continue;
    reached.add(name);
    open.push(...successorsOf(state));
  }
  return reached;
};

/** Whether a task waits under a task token. Its time limits then come from the step before. */
export const isUnderToken = ({ Resource = '' }: State): boolean => Resource.endsWith('.waitForTaskToken');

/** The definition files. */
export const FILES = definitionFiles();
/** Every task, with its file. */
export const TASKS = FILES.flatMap((file) =>
  statesOf(readDefinition(file))
    .filter(([, { Type }]) => Type === 'Task')
    .map(([name, task]) => ({ file, name, task })),
);
