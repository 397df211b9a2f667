import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { storeOutputs } from '../../../../core/storing/store-outputs.ts';
import {
  permitAttribute,
  providerAttemptKey,
  requestKey,
  routeLimitKey,
} from '../../../../core/table/keys.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { anAttempt, REQUEST_ID } from '../../builders/entities.ts';
import { file, ProducedOutputs } from '../../builders/produced-outputs.ts';
import { MODEL, UPSTREAM, withLimits } from '../admission/a-route.ts';

process.env.ALLOW_PRIVATE_TARGETS = 'true';
const produced = await new ProducedOutputs().start();
const { memory, server, png } = produced;
beforeEach(() => produced.reset());
afterAll(() => server.close());

const ROUTE = `${UPSTREAM.provider}/${UPSTREAM.upstreamModel}`;
const used = () => memory.get(routeLimitKey(ROUTE))?.used;
/** A request with a permit for two calls, the first of which has an output. */
const givenPermit = (): void => {
  produced.serve({ '/a': file(png), '/b': file(png) });
  produced.given(['/a', '/b'], { model: MODEL, assignment: { route: ROUTE, number: 1 } });
  const permit = { accountId: 'a', weight: 2, takenMs: 1 };
  memory.put(routeLimitKey(ROUTE), { used: 2, [permitAttribute(REQUEST_ID)]: permit });
};
const store = (): Promise<void> =>
  withLimits({ maxRunning: 2 }, () => storeOutputs(REQUEST_ID, new StoppedClock(atSeconds(900))));

describe('the permit of a request whose outputs are stored', () => {
  test('is released while they are copied, and recorded as released', async () => {
    givenPermit();
    let whileCopied: unknown;
    server.respond = (_, response) => {
      whileCopied = used();
      file(png)(response, 1);
    };
    await store();

    expect(whileCopied).toBe(0);
    expect(memory.get(requestKey(REQUEST_ID))).toHaveProperty('permitReleased', true);
  });

  test.each([
    ['is open at the provider', { kind: 'accepted', taskId: 't' }],
    ['cannot be read by this version', { kind: 'of-another-version' }],
    ['is being made', undefined],
  ])('is kept while a call beside them %s: the closing releases it', async (_, outcome) => {
    givenPermit();
    memory.put(providerAttemptKey(REQUEST_ID, 1, 0), { ...anAttempt({ call: 1 }), outcome });
    await store();

    expect(used()).toBe(2);
    expect(memory.get(requestKey(REQUEST_ID))).not.toHaveProperty('permitReleased');
    expect(produced.recorded()).toHaveLength(1);
  });
});
