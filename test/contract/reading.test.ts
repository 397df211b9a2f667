import { describe, expect, test } from '@jest/globals';
import { accepted, eventually, read, settled, unique } from './support/client.ts';
import { entriesOf, history } from './support/ledger.ts';
import { withoutUrls } from './support/resources.ts';
import { useCaller } from './support/use-caller.ts';

const caller = useCaller();

describe('A request', () => {
  test('goes from queued to processing to succeeded and never back, whether its provider answers at once or accepts a task', async () => {
    const seenOf = async (model: string): Promise<string[]> => {
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
      return seen;
    };

    // At once, so that each may be long enough to be seen at work.
    expect(await Promise.all(['xZI1.0Pro', 'xQI3Pro'].map(seenOf))).toEqual(
      Array(2).fill(['queued', 'processing', 'succeeded']),
    );
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
