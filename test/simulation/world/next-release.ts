import type { Definition, State } from '../../workflow/asl.ts';
import type { DeployedFunction } from './aws/lambda.ts';

/**
 * Task functions that the next release renames, under their present names. As the rules want it, the new name is there a release before a
 * definition calls it, and the old one stays for a release.
 */
const RENAMED = { 'settle-request': 'end-request', 'deliver-webhook': 'send-webhook' } as const;

/** A step that the next release adds, for one of this release: only definitions that have it in `knownSteps` are answered it. */
const ADDED_STEP = { for: 'retry', next: 'rest' } as const;

type Functions = ReadonlyMap<string, DeployedFunction>;

/**
 * An attribute that the next release adds to every item. Readers of this release ignore the attribute, and updates of
 * this release keep it.
 */
export const ADDED_ATTRIBUTE = 'addedByNextRelease';

/** An item as the next release leaves it. */
export const nextItem = (item: Record<string, unknown>): Record<string, unknown> => ({
  ...item,
  [ADDED_ATTRIBUTE]: { since: 'the next release' },
});

/** The present name of a task function that the next release may have renamed. */
export const presentTask = (task: string): string =>
  Object.entries(RENAMED).find(([, name]) => name === task)?.[0] ?? task;

/** The functions of a stack between this release and the next: a renamed function has both names. */
export const withNewNames = (functions: Functions): Map<string, DeployedFunction> => {
  const all = new Map(functions);
  for (const [former, name] of Object.entries(RENAMED)) {
    const fn = functions.get(former);
    if (!fn) throw new Error(`There is no function ${former} to rename.`);
    all.set(name, fn);
  }
  return all;
};

const placeholderOf = (name: string): string =>
  `\${${name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Arn}`;

/**
 * The texts of a next release's definitions, made of this one's as the rules allow: functions are renamed, a step is added, and a state.
 * Throws when this release has nothing of that to change.
 */
export const nextDefinitions = (texts: ReadonlyMap<string, string>): Map<string, string> => {
  const renamed = Object.entries(RENAMED).reduce(
    (text, [former, name]) => replaced(text, placeholderOf(former), placeholderOf(name)),
    JSON.stringify([...texts]),
  );
  const next = new Map(JSON.parse(renamed) as [string, string][]);
  const generation = JSON.parse(next.get('generation') ?? 'null') as Definition | null;
  if (!generation) throw new Error('There is no state machine of requests.');
  addStep(generation);
  addState(generation, 'Store outputs', 'Outputs stored');
  return next.set('generation', JSON.stringify(generation));
};

const replaced = (text: string, from: string, to: string): string => {
  if (!text.includes(from)) throw new Error(`No definition has ${from}.`);
  return text.replaceAll(from, to);
};

const addStep = ({ States }: Definition): void => {
  for (const { Parameters } of Object.values(States)) {
    const { knownSteps } = (Parameters?.Payload ?? {}) as { knownSteps?: string[] };
    if (knownSteps?.includes(ADDED_STEP.for)) knownSteps.push(ADDED_STEP.next);
  }
  const choices = States['Where does the request stand?']?.Choices;
  const former = choices?.find(({ StringEquals }) => StringEquals === ADDED_STEP.for);
  if (!former) throw new Error(`No choice is made for ${ADDED_STEP.for}.`);
  choices?.push({ ...former, StringEquals: ADDED_STEP.next });
};

const addState = ({ States }: Definition, after: string, name: string): void => {
  const state: State | undefined = States[after];
  if (!state?.Next) throw new Error(`Nothing comes after ${after}.`);
  States[name] = { Type: 'Pass', Next: state.Next };
  state.Next = name;
};

/** An answer of this release, as the same function of the next release gives it. */
export const answerOfNextRelease = (answer: unknown, payload: unknown): unknown => {
  const { knownSteps } = payload as { knownSteps?: string[] };
  const step = answer as { next?: unknown } | null | undefined;
  if (step?.next !== ADDED_STEP.for || !knownSteps?.includes(ADDED_STEP.next)) return answer;
  return { ...step, next: ADDED_STEP.next };
};
