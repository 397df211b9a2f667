import type { StateInfo } from './definition.ts';
import type { Chain, History } from './history.ts';
import type { TaskResource } from './task-resource.ts';

/** Writes the events of one attempt at a task. */
export interface TaskEvents {
  scheduled(parameters: unknown, timeoutSeconds: unknown, heartbeatSeconds: unknown): void;
  /** The call was answered; the task continues until its token is returned. */
  submitted(output: unknown): void;
  succeeded(output: unknown): void;
  failed(error: string, cause: string): void;
  timedOut(error: string): void;
}

const optional = (field: string, value: unknown) => (typeof value === 'number' ? { [field]: value } : {});

/** The events of a Task state: those of a service integration, or of a function as the resource. */
export const createTaskEvents = (
  history: History,
  { resource }: StateInfo & { resource: TaskResource },
  region: string,
  chain: Chain,
): TaskEvents => {
  const isFunction = resource.functionArn !== undefined;
  const named = isFunction ? {} : { resourceType: resource.resourceType, resource: resource.resource };
  const write = (outcome: string, details?: Record<string, unknown>) => {
    const merged = { ...named, ...details };
    history.append(
      `${isFunction ? 'LambdaFunction' : 'Task'}${outcome}`,
      Object.keys(merged).length > 0 ? merged : undefined,
      chain,
    );
  };
  const outputOf = (output: unknown) => ({
    output: JSON.stringify(output),
    outputDetails: { truncated: false },
  });
  return {
    scheduled(parameters, timeoutSeconds, heartbeatSeconds) {
      const text = JSON.stringify(parameters);
      write('Scheduled', {
        ...(isFunction ? { resource: resource.functionArn, input: text } : { region, parameters: text }),
        ...optional('timeoutInSeconds', timeoutSeconds),
        ...optional('heartbeatInSeconds', heartbeatSeconds),
      });
      write('Started');
    },
    submitted: (output) => write('Submitted', outputOf(output)),
    succeeded: (output) => write('Succeeded', outputOf(output)),
    failed: (error, cause) => write('Failed', { error, cause }),
    timedOut: (error) => write('TimedOut', { error }),
  };
};
