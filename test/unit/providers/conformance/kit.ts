import { afterAll, beforeEach, describe } from '@jest/globals';
import { describeCancelling } from './cancelling.ts';
import { describeUnansweredCreations } from './creations.ts';
import { describeToldErrors } from './errors.ts';
import { server } from './server.ts';
import { describeTasks } from './tasks.ts';
import { describeVerdicts } from './verdicts.ts';
import type { Wire } from './wire.ts';

/**
 * The conformance kit: the promises of every adapter, against a real HTTP server that speaks the provider's wire
 * format. An adapter needs no other test than those of what it sends (`plan`) and of its own error codes.
 */
export const describeConformance = (wire: Wire): void => {
  beforeEach(() => server.reset());
  afterAll(() => server.close());

  describe(`the adapter of ${wire.name} conforms:`, () => {
    describeUnansweredCreations(wire);
    describeVerdicts(wire);
    describeTasks(wire);
    describeCancelling(wire);
    describeToldErrors(wire);
  });
};
