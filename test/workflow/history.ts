import type { StateMachine } from 'aws-local-stepfunctions';

type Json = Parameters<StateMachine['run']>[0];
/** Something that happened in an execution, as the interpreter tells it. */
export type RunEvent =
  ReturnType<StateMachine['run']>['eventLogs'] extends AsyncGenerator<infer Event> ? Event : never;

/** A visited state: its whole input and output, and the seconds it took, retries included. */
export interface Visit {
  state: string;
  /** The item that it was visited for, in a Map. */
  index: number | undefined;
  input: Json;
  output: Json | undefined;
  seconds: number;
}

/** A retry: the error before it, and the delay in seconds. */
export interface Retry {
  state: string;
  error: string;
  seconds: number;
}

/** The course of an execution. */
export interface Course {
  /** The names of the visited states, in order. */
  path: string[];
  visits: Visit[];
  retries: Retry[];
  /** What Step Functions bills: each state entered and each retry. */
  transitions: number;
  /** Its duration. */
  seconds: number;
  /** The whole history as text. */
  history: string;
}

/** The course of an execution, from its events. */
export const readEvents = (events: readonly RunEvent[]): Course => {
  const visits: (Visit & { enteredAt: number; lastError: { name: string; at: number } })[] = [];
  const retries: Retry[] = [];
  for (const event of events) {
    if (!('state' in event)) continue;
    const { state, index } = event;
    if (event.type === 'StateEntered') {
      const lastError = { name: '', at: 0 };
      const entered = { enteredAt: event.timestamp, lastError };
      visits.push({
        state: state.name,
        index,
        input: state.input,
        output: undefined,
        seconds: 0,
        ...entered,
      });
      continue;
    }
    const visit = visits.findLast((each) => each.state === state.name && each.index === index);
    if (!visit) throw new Error('Something happened to a state that was never entered.');
    if (event.type === 'StateFailed') visit.lastError = { name: event.Error, at: event.timestamp };
    if (event.type === 'StateRetried') {
      const seconds = (event.timestamp - visit.lastError.at) / 1000;
      retries.push({ state: state.name, error: visit.lastError.name, seconds });
    }
    if (event.type === 'StateExited') {
      visit.output = state.output;
      visit.seconds = (event.timestamp - visit.enteredAt) / 1000;
    }
  }
  return {
    path: visits.map(({ state }) => state),
    visits: visits.map(({ enteredAt: _, lastError: __, ...visit }) => visit),
    retries,
    transitions: visits.length + retries.length,
    seconds: ((events.at(-1)?.timestamp ?? 0) - (events[0]?.timestamp ?? 0)) / 1000,
    history: JSON.stringify(events),
  };
};
