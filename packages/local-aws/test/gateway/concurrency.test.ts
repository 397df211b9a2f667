import { describe, expect, test } from '@jest/globals';
import { createConcurrency } from '../../src/functions/concurrency.ts';

/** Invocations that run until they are released. */
const occupying = (limits: Parameters<typeof createConcurrency>[0]) => {
  const withConcurrency = createConcurrency(limits);
  const gate = Promise.withResolvers<string>();
  return {
    start: (name: string) => withConcurrency(name, () => gate.promise),
    release: () => gate.resolve('done'),
  };
};
const refused = { name: 'TooManyRequestsException' };

describe('the concurrency of functions', () => {
  test('has no limit unless one is given', async () => {
    const { start, release } = occupying({ reserved: new Map() });
    const all = Array.from({ length: 100 }, () => start('a'));
    release();

    await expect(Promise.all(all)).resolves.toHaveLength(100);
  });

  test('is shared: with none left, any function is throttled until one ends', async () => {
    const { start, release } = occupying({ account: 2, reserved: new Map() });
    const running = [start('a'), start('b')];

    await expect(start('c')).rejects.toMatchObject(refused);
    release();
    await Promise.all(running);
    await expect(start('c')).resolves.toBe('done');
  });

  test('that a function reserves is kept for it, and bounds it', async () => {
    const { start, release } = occupying({ account: 3, reserved: new Map([['slow', 2]]) });
    const running = [start('api')];

    await expect(start('api')).rejects.toMatchObject(refused);
    running.push(start('slow'), start('slow'));
    await expect(start('slow')).rejects.toMatchObject(refused);
    release();
    await expect(Promise.all(running)).resolves.toHaveLength(3);
  });
});
