/** What an upstream of the sandbox is built of. A test may stand in for a third one: see `upstreams` of `startSandbox`. */
export { parseDirectives } from './directives.ts';
export { type Handler, Reply, type Route, type Upstream, UpstreamError } from './http.ts';
export { createTasks } from './tasks.ts';

import type { Callbacks } from './callbacks.ts';
import type { Upstream } from './http.ts';
import type { Outputs } from './outputs.ts';
import type { TaskJournal } from './task-journal.ts';

/** What the sandbox gives every upstream. */
export type UpstreamParts = {
  apiKey: string;
  outputs: Outputs;
  journal: TaskJournal;
  callbacks: Callbacks;
  /** Epoch milliseconds. */
  now: () => number;
};

/** Creates an upstream. Its `prefix` must not begin with that of another. */
export type CreateUpstream = (parts: UpstreamParts) => Upstream;
