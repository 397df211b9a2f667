import type { RunEvent } from './interpreter/events.ts';
import type { TaskResource } from './interpreter/task-resource.ts';

/** An event of a history: its type and details. */
export interface Written {
  type: string;
  details?: Record<string, unknown> | undefined;
}

type TaskEvent = Extract<RunEvent, { type: `Task${string}` }>;

const optional = (field: string, value: number | undefined) =>
  value === undefined ? {} : { [field]: value };

const detailsOf = (event: TaskEvent): Record<string, unknown> => {
  switch (event.type) {
    case 'TaskScheduled':
      return {
        ...optional('timeoutInSeconds', event.timeoutSeconds),
        ...optional('heartbeatInSeconds', event.heartbeatSeconds),
      };
    case 'TaskSubmitted':
    case 'TaskSucceeded':
      return { output: JSON.stringify(event.output), outputDetails: { truncated: false } };
    case 'TaskFailed':
      return { error: event.error, cause: event.cause };
    case 'TaskTimedOut':
      return { error: event.error };
  }
};

/** The history's events of a task: those of a service integration, or of a function as the resource. */
export const taskEvents = (event: TaskEvent, resource: TaskResource, region: string): Written[] => {
  const isFunction = resource.functionArn !== undefined;
  const named = isFunction ? {} : { resourceType: resource.resourceType, resource: resource.resource };
  const write = (outcome: string, details: Record<string, unknown> = {}): Written => {
    const all = { ...named, ...details };
    return {
      type: `${isFunction ? 'LambdaFunction' : 'Task'}${outcome}`,
      details: Object.keys(all).length > 0 ? all : undefined,
    };
  };
  const written = write(event.type.replace(/^Task/, ''), detailsOf(event));
  if (event.type !== 'TaskScheduled') return [written];
  const text = JSON.stringify(event.parameters);
  const asked = isFunction ? { resource: resource.functionArn, input: text } : { region, parameters: text };
  return [write('Scheduled', { ...asked, ...detailsOf(event) }), write('Started')];
};
