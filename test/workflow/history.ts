import type { RunEvent, Visit as StateVisit } from '@generation-service/local-aws/interpreter';

/** Something that happened in an execution, and when, in epoch milliseconds. */
export type TimedEvent = RunEvent & { at: number };

/** A visited state: its whole input and output, and the seconds it took, retries included. */
export interface Visit {
  state: string;
  /** The item that it was visited for, in a Map. */
  index: number | undefined;
  input: unknown;
  output: unknown;
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

/** The course of an execution, from its events. Both instants are in epoch milliseconds. */
export const readEvents = (events: readonly TimedEvent[], startedAt: number, endedAt: number): Course => {
  const visits = new Map<StateVisit, Visit>();
  const retries: Retry[] = [];
  for (const event of events) {
    const { state, branch, enteredAt } = event.visit;
    if (event.type === 'StateEntered') {
      const { index } = branch;
      visits.set(event.visit, {
        state: state.name,
        index,
        input: event.input,
        output: undefined,
        seconds: 0,
      });
    }
    if (event.type === 'StateRetried') {
      retries.push({ state: state.name, error: event.error, seconds: event.seconds });
    }
    const visit = visits.get(event.visit);
    if (event.type === 'StateExited' && visit) {
      visit.output = event.output;
      visit.seconds = (event.at - enteredAt) / 1000;
    }
  }
  return {
    path: [...visits.values()].map(({ state }) => state),
    visits: [...visits.values()],
    retries,
    transitions: visits.size + retries.length,
    seconds: (endedAt - startedAt) / 1000,
    history: JSON.stringify(events.map(({ visit, ...event }) => ({ ...event, state: visit.state.name }))),
  };
};
