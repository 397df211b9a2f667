import { describe, expect, test } from '@jest/globals';
import { accepted, eventually, read, settled, unique } from './support/client.ts';
import { entriesOf, history } from './support/ledger.ts';
import { withoutUrls } from './support/resources.ts';
import { useCaller } from './support/use-caller.ts';

const caller = useCaller();

describe('A request', () => {
  const MODELS = [
    ['answers at once', 'xZI1.0Pro'],
    ['accepts a task', 'xQI3Pro'],
  ] as const;

  test.each(MODELS)('is processing while its provider, which %s, makes the image', async (_, model) => {
    const { requestId } = await accepted(caller, { model, size: '512x512', prompt: unique('[delay=60]') });

    await eventually(
      async () => (await read(caller, requestId)).status,
      (status) => status === 'processing',
    );
  });

  test.each(MODELS)('never goes back, where its provider %s', async (_, model) => {
    const created = await accepted(caller, { model, size: '512x512', prompt: unique('[delay=3]') });
    const seen = [created.status];
    await eventually(
      async () => {
        const { status } = await read(caller, created.requestId);
        if (status !== seen.at(-1)) seen.push(status);
        return status;
      },
      (status) => status === 'succeeded' || status === 'failed',
    );

    // On a busy machine no read may come while the image is made.
    expect([
      ['queued', 'processing', 'succeeded'],
      ['queued', 'succeeded'],
    ]).toContainEqual(seen);
  });

  test('reads the same every time, and is paid once', async () => {
    const { requestId } = await accepted(caller, { size: '512x512' });
    const first = await settled(caller, requestId);
    const entriesBefore = await history(caller);

    const reads = await Promise.all(Array.from({ length: 5 }, () => read(caller, requestId)));

    expect(reads.map(withoutUrls)).toEqual(Array(5).fill(withoutUrls(first)));
    expect(await history(caller)).toEqual(entriesBefore);
    expect(await entriesOf(caller, requestId)).toEqual([['generation', 1]]);
  });
});
