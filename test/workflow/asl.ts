import { readdirSync, readFileSync } from 'node:fs';
import type { Retrier } from '../../packages/local-aws/src/aws/step-functions/interpreter/retries.ts';

const folder = new URL('../../statemachines/', import.meta.url);

/**
 * Transient errors of Lambda: those AWS recommends to retry
 * (https://docs.aws.amazon.com/step-functions/latest/dg/bp-lambda-serviceexception.html), a function that timed
 * out, and one whose process died.
 */
export const LAMBDA_TRANSIENT_ERRORS = [
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.TooManyRequestsException',
  'Lambda.Unknown',
  'Sandbox.Timedout',
  'Runtime.ExitError',
];

/** No concurrency is left in the account: nothing has failed, and minutes may pass before there is room. */
export const THROTTLING = 'Lambda.TooManyRequestsException';

/** How tasks retry `TransientError` and the transient errors of Lambda when nothing is lost by giving up. */
export const TRANSIENT_RETRIER: Retrier = {
  ErrorEquals: ['TransientError', ...LAMBDA_TRANSIENT_ERRORS.filter((error) => error !== THROTTLING)],
  IntervalSeconds: 2,
  BackoffRate: 2,
  MaxDelaySeconds: 30,
  MaxAttempts: 6,
  JitterStrategy: 'FULL',
};

/**
 * How the tasks of `generation` retry them: until the longest deadline of a deployment has passed and the outputs
 * had their time to be stored. With full jitter a pause is 15 s on average.
 */
export const LASTING_RETRIER: Retrier = { ...TRANSIENT_RETRIER, MaxAttempts: 450 };

/** How tasks retry a throttled function: by itself, so that it uses up no attempts of others; for 15 min on average. */
export const THROTTLING_RETRIER: Retrier = {
  ...TRANSIENT_RETRIER,
  ErrorEquals: [THROTTLING],
  MaxAttempts: 60,
};

/**
 * The name Step Functions gives to a missing permission, as after a function has left the stack. Some errors of Lambda that pass have
 * it too.
 */
export const REFUSED = 'Lambda.AWSLambdaException';
/** A function that was removed: by its own name while the role may call it. */
export const GONE = ['Lambda.ResourceNotFoundException', REFUSED];

/** A retrier without `REFUSED`, and another for that. */
export const withRefused = (
  retrier: Retrier,
  refused: Pick<Retrier, 'MaxAttempts' | 'MaxDelaySeconds'>,
): Retrier[] => [
  { ...retrier, ErrorEquals: retrier.ErrorEquals.filter((error) => error !== REFUSED) },
  { ...retrier, ...refused, ErrorEquals: [REFUSED] },
];

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
  Choices?: { Next: string; StringEquals?: string }[];
  Default?: string;
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
