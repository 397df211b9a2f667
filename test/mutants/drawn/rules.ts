import { arithmetic, boundary, branch, guard, operand, opposite } from './control-rules.ts';
import {
  caught,
  droppedAwait,
  droppedCall,
  droppedStep,
  droppedWrite,
  finallyDropped,
  option,
  reordered,
  settled,
} from './effect-rules.ts';
import { clause, compared, condition, updatePart } from './expression-rules.ts';
import { attempts, listed, widened } from './retry-rules.ts';
import type { Edit, Place } from './source.ts';
import { choice, handledErrors, retriedTimes, skippedTask, stateTimeLimit } from './state-machine-rules.ts';

/** The bugs that a rule makes at a place: each a set of edits, the first of which is shown. */
type Rule = (place: Place) => Edit[][];

/** The rules by name, for TypeScript. */
export const CODE_RULES = {
  'clause of a condition dropped': clause,
  'condition of a write dropped': condition,
  'attribute of an update dropped': updatePart,
  'comparison in a condition changed': compared,
  'guard dropped': guard,
  'branch forced': branch,
  'operand dropped': operand,
  'boundary moved': boundary,
  'condition reversed': opposite,
  'calculation reversed': arithmetic,
  'call dropped': droppedCall,
  'step dropped': droppedStep,
  'write of a transaction dropped': droppedWrite,
  'effects reordered': reordered,
  'await dropped': droppedAwait,
  'all and allSettled swapped': settled,
  'catch changed': caught,
  'finally dropped': finallyDropped,
  'option dropped': option,
  'attempts changed': attempts,
  'constant of a list dropped': listed,
  'errors widened': widened,
} as const satisfies Record<string, Rule>;

/** The rules by name, for state machines. */
export const STATE_MACHINE_RULES = {
  'handled errors changed': handledErrors,
  'times of a retry changed': retriedTimes,
  'time limit of a state dropped': stateTimeLimit,
  'choice dropped': choice,
  'task skipped': skippedTask,
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof CODE_RULES | keyof typeof STATE_MACHINE_RULES;

/** The rules for a file. */
export const rulesFor = (file: string): [RuleName, Rule][] =>
  Object.entries(file.endsWith('.json') ? STATE_MACHINE_RULES : CODE_RULES) as [RuleName, Rule][];
