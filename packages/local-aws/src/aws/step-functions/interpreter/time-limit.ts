import { runtimeError } from './errors.ts';

/** A limit on a task's time in seconds. Throws `States.Runtime`, as Step Functions does, unless it is a positive integer. */
export const readTimeout = (value: unknown): number | undefined => {
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && Number(value) > 0) return Number(value);
  throw runtimeError(`TimeoutSeconds must be a positive integer, not ${value}`);
};
