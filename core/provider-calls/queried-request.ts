import { AsyncLocalStorage } from 'node:async_hooks';

/** The control loop queries tasks of many requests at once, so the logger's own keys cannot name the request. */
const queried = new AsyncLocalStorage<{ requestId: string }>();

/** Queries a task of a request, whose id the adapter's log lines then have. */
export const queryFor = <T>(requestId: string, query: () => Promise<T>): Promise<T> =>
  queried.run({ requestId }, query);

/** The id of the request whose task is being queried, as a field of a log line; none outside a query. */
export const queriedRequest = (): { requestId?: string } => queried.getStore() ?? {};
