import type { Model, ModelParameter } from '@generation-service/client';

/** Whether a model has a parameter: one that it has not is refused. */
export const hasParameter = ({ parameters = [] }: Model, name: ModelParameter['name']): boolean =>
  parameters.some((one) => one.name === name);
