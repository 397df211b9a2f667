import { expect, test } from '@jest/globals';
import { describeLocalRun } from './local-run.ts';

const { opsOn } = describeLocalRun();

test('ops console --json prints its address as one value, and listens no more once it is interrupted', async () => {
  const interrupt = new AbortController();
  let isServed = false;
  const { status, stdout } = await opsOn(
    {
      catchInterrupt: () => interrupt.signal,
      async out(text) {
        const { origin } = new URL(JSON.parse(text).url);
        isServed = (await fetch(`${origin}/console`)).ok;
        interrupt.abort();
      },
    },
    ...['console', '--json'],
  );

  expect([status, isServed]).toEqual([0, true]);
  const { url } = JSON.parse(stdout);
  await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});
