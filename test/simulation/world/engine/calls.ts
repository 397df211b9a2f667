import type { Service } from './outages.ts';

/** A call to something outside the process: to AWS. */
export interface Call<T> {
  /** As it reads in a trace. */
  name: string;
  /** The service that it calls, if that can fail as a whole. */
  service: Service | undefined;
  /** The partitions of the table that it is about. */
  partitions?: readonly string[];
  /** How often the SDK's client tries it. */
  maxTries: number;
  /** After how long the client gives up a try; undefined when it waits for ever. */
  answerMs: number | undefined;
  /** The abort signal of the caller, if any. */
  signal?: AbortSignal | undefined;
  /** Does it, once it has arrived. */
  perform: () => T | Promise<T>;
  /** Does only a part of it, and says so in its answer; absent for what is done at once. */
  partly?: () => T;
  /** Reads the rest of several items while the answer is on its way; absent for a call that is done at once. */
  readOn?: (answer: T) => T;
  /** Makes the error of a write that meets another one; absent for what cannot. */
  conflict?: () => Error;
  /** The errors of a refused call and of a lost answer; by default the errors of AWS's SDK. */
  errors?: CallErrors;
  /** Makes the error with which a throttled call ends at once; absent for what the SDK tries again. */
  throttled?: () => Error;
  /** Makes the error of a call that is not allowed; absent for what always is. */
  denied?: () => Error;
  /** Makes the error of a try that finds an earlier one under way; absent for what is done at once. */
  underWay?: () => Error;
  /** The longest that it can be on its way, 2.5 s unless given. */
  slowestMs?: number;
  /** Told when it was given up undone. */
  givenUp?: () => void;
  /**
   * Called when an answer was lost and the caller got no other: the call was done, or refused as a repetition of
   * itself.
   */
  unheard?: () => void;
}

/** The names of the errors of a call that is throttled, is refused, and of which the answer is lost. */
export interface CallErrors {
  throttled: string;
  refused: string;
  lost: string;
}
