import { afterAll, beforeEach, expect, jest, test } from '@jest/globals';
import { requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { REQUEST_ID } from '../../builders/entities.ts';
import { file, keyOf, ProducedOutputs, status } from '../../builders/produced-outputs.ts';

jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: async () => undefined }));
const { storeOutputs } = await import('../../../../core/storing/store-outputs.ts');

process.env.ALLOW_PRIVATE_TARGETS = 'true';
const produced = await new ProducedOutputs().start();
beforeEach(() => produced.reset());
afterAll(() => produced.server.close());

const record = () => produced.memory.get(requestKey(REQUEST_ID));
/** Expects that a run so many seconds after the first leaves outputs to the next one. */
const expectPending = (seconds: number) =>
  expect(storeOutputs(REQUEST_ID, new StoppedClock(atSeconds(seconds)))).rejects.toMatchObject({
    name: 'OutputsPendingError',
  });

test('Each run adds what it stores to the record, counted from the first, and writes nothing without that', async () => {
  produced.serve({ '/a': status(503), '/b': status(503) });
  produced.given(['/a', '/b']);
  await expectPending(0);
  expect(record()).toHaveProperty('storingSince', atSeconds(0).toISOString());
  expect(record()).not.toHaveProperty('storedSoFar');

  produced.memory.client.resetHistory();
  await expectPending(1);
  expect(produced.memory.calls()).not.toHaveProperty('UpdateCommand');

  produced.serve({ '/a': file(produced.png), '/b': status(503) });
  await expectPending(2);
  expect(record()).toMatchObject({
    storingSince: atSeconds(0).toISOString(),
    storedSoFar: [{ index: 0, objectKey: keyOf('0.png') }, { index: 1 }],
  });
});
