import type { Failure } from '../../../../core/errors.ts';
import type { RequestKind } from '../../../../core/ids.ts';
import type { Provider, ProviderAnswer, Taken } from '../../../../core/provider-calls/providers.ts';
import type { StoredRequest } from '../../../../core/requests/request-rules.ts';

/** An adapter's class. */
export type Adapter = new (connection: { baseUrl: string; apiKey: string }) => Provider;

/** A response of the provider. A body is sent as JSON, text as it is. */
export interface WireAnswer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
  /** Its answer to another call that the adapter makes first, by the end of that call's path. */
  first?: { pathEnd: string; answer: WireAnswer };
}

/** Errors of the provider, by what they mean. */
export interface WireErrors {
  /** The content filter refused the input. */
  content: WireAnswer;
  /** The input is not valid. */
  invalid: WireAnswer;
  /** The key is wrong, or may not do this. */
  access: WireAnswer[];
  /** The provider is too busy: the call may be made again. */
  throttled: WireAnswer;
  /** The provider itself is broken. */
  broken: WireAnswer;
}

/** How a provider speaks, for the conformance kit. Fields that a body needs but the adapter does not read may be left out. */
export interface Wire {
  name: string;
  Adapter: Adapter;
  /**
   * A request that the provider serves by a task, and a request that it serves synchronously, if it has synchronous
   * calls.
   */
  requests: { task: StoredRequest; synchronous?: StoredRequest };
  errors: WireErrors;
  /** The failure of a task that was refused for its content. Makers report it in different words. */
  refusedContent: Failure;
  /** The answers to a creation that the adapter's table of outcomes has, besides those that every provider gives. */
  outcomes?: [name: string, answer: WireAnswer, told: Partial<ProviderAnswer>, taken: Taken][];
  /** The id that the adapter gives to the provider's task of this id, created by `A_CALL`; the same unless it says otherwise. */
  taskId?: (id: string) => string;
  /** Answers to a creation by which a task of this id exists. */
  created: (taskId: string) => WireAnswer;
  /** Whether its answers with images tell how many it made. */
  countsImages?: true;
  /** The answer to a synchronous creation, with each output's URL; undefined when the provider has none such. */
  images?: (...urls: string[]) => WireAnswer;
  /** A synchronous answer with three outputs: refused by the content filter, at the given URL, and broken. */
  partial?: (url: string) => WireAnswer;
  /** The path of a task, which is queried by GET; several where a query of an ended task takes several calls. */
  taskPath: (taskId: string) => string | string[];
  /** The state of a task. */
  tasks: {
    /** Every state of a task that is unfinished. */
    waiting: WireAnswer[];
    /** The task's outputs, in order. */
    done: (...urls: string[]) => WireAnswer;
    /** Finished without any output. */
    empty: WireAnswer;
    /** Refused for its content, failed because of its input, or failed by the provider's own fault. */
    failed: Record<'content' | 'invalid' | 'broken', WireAnswer>;
    /** Ended because the provider ran out of time, or somebody cancelled it. */
    timedOut: WireAnswer;
    cancelled: WireAnswer;
    /** In a state that the adapter does not know. */
    unheardOf: WireAnswer;
    /** The provider does not know the task. */
    unknown: WireAnswer;
  };
  cancel: {
    method: string;
    path: (taskId: string) => string;
    done: WireAnswer;
    /** The task runs already, or has ended. */
    refused: WireAnswer;
    /** The code that the adapter tells of the refusal. */
    code: string;
  };
  /** Answers that differ only in what is absent or null, for each operation. */
  same: { creation: [WireAnswer, WireAnswer][]; query: [WireAnswer, WireAnswer][] };
  /** The kinds of request that the provider calls back about. */
  callsBackFor: RequestKind[];
}
