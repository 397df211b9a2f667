import { z } from 'zod';

/** A context that the stack cannot be made of. Its message has a line for each problem, and needs no stack trace. */
export class ContextError extends Error {
  override readonly name = 'ContextError';

  constructor(problems: readonly Pick<z.core.$ZodIssue, 'message' | 'path'>[]) {
    const [first = '', ...others] = problems.map(
      ({ message, path }) => `${message} → at ${z.core.toDotPath(path)}`,
    );
    super(
      [
        'The context is not valid:',
        ...(others.length === 0 ? [` ${first}`] : [first, ...others].map((line) => `\n  ${line}`)),
      ].join(''),
    );
  }
}
