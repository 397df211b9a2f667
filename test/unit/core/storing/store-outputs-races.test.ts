import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { requestKey } from '../../../../core/table/keys.ts';
import { StoppedClock } from '../../builders/clocks.ts';
import { aStoredOutput, REQUEST_ID } from '../../builders/entities.ts';
import { file, keyOf, ProducedOutputs, status } from '../../builders/produced-outputs.ts';

jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: async () => undefined }));
const { storeOutputs } = await import('../../../../core/storing/store-outputs.ts');

process.env.ALLOW_PRIVATE_TARGETS = 'true';
const produced = await new ProducedOutputs().start();
const { bucket, memory, server, png } = produced;
const store = () => storeOutputs(REQUEST_ID, new StoppedClock());
const keys = () => [...bucket.objects.keys()].sort();
/** Makes this change while the last of two files is being copied, which then ends so. */
const duringCopy = (change: () => void, last = file(png)): void => {
  produced.serve({
    '/a': file(png),
    '/b': (response, time) => {
      change();
      last(response, time);
    },
  });
};
const fails = () => memory.patch(requestKey(REQUEST_ID), { status: 'failed' });
const isDeleted = () => memory.remove(requestKey(REQUEST_ID));

beforeEach(() => {
  produced.reset();
  produced.given(['/a', '/b']);
  bucket.put('outputs/another');
});
afterAll(() => server.close());

describe('storing the outputs of a request', () => {
  test.each<[string, () => void, ReturnType<typeof file>]>([
    ['fails during the copy', fails, file(png)],
    ['is deleted during the copy', isDeleted, file(png)],
    ['fails while a file cannot be stored', fails, status(503)],
    ['is deleted while a file cannot be stored', isDeleted, status(503)],
  ])('that %s leaves no file behind, and is not retried', async (_, change, last) => {
    duringCopy(change, last);

    await store();

    expect(new Set(produced.requestedPaths())).toEqual(new Set(['/a', '/b']));
    expect(keys()).toEqual(['outputs/another']);
    expect(produced.recorded()).toBeUndefined();
  });

  test('that another run has settled keeps its files: they are the same', async () => {
    const outputs = [aStoredOutput(0), aStoredOutput(1)];
    duringCopy(() => memory.patch(requestKey(REQUEST_ID), { status: 'succeeded', outputs }));

    await store();

    expect(keys()).toEqual(['outputs/another', keyOf('0.png'), keyOf('1.png')].sort());
    expect(produced.recorded()).toEqual(outputs);
  });

  test.each([
    ['during the copy', file(png), ['0.png', '1.png']],
    ['while a file cannot be stored', status(503), ['0.png']],
  ])('that another run recorded %s keeps its files and that recording', async (_, last, names) => {
    const outputs = [aStoredOutput(0), { index: 1 }];
    duringCopy(() => memory.patch(requestKey(REQUEST_ID), { outputs }), last);

    await store();

    expect(keys()).toEqual(['outputs/another', ...names.map(keyOf)].sort());
    expect(memory.get(requestKey(REQUEST_ID))).toMatchObject({ outputs });
    expect(memory.get(requestKey(REQUEST_ID))).not.toHaveProperty('storedSoFar');
  });

  test('that failed and was left with files by a run that died removes them', async () => {
    fails();
    bucket.put(keyOf('1.png'));

    await store();

    expect(produced.requestedPaths()).toEqual([]);
    expect(keys()).toEqual(['outputs/another']);
  });

  test('that are recorded already fetches nothing', async () => {
    memory.patch(requestKey(REQUEST_ID), { outputs: [aStoredOutput(0)] });

    await store();

    expect(produced.requestedPaths()).toEqual([]);
  });

  test('that failed during the copy does not call the bucket when nothing was stored', async () => {
    produced.serve({
      '/a': status(410),
      '/b': (response, time) => {
        fails();
        status(410)(response, time);
      },
    });

    await store();

    expect(bucket.client.calls()).toHaveLength(0);
  });
});
