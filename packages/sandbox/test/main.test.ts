import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { poll } from './sandbox-client.ts';

const start = (...args: string[]) =>
  spawn(process.execPath, [fileURLToPath(new URL('../src/main.ts', import.meta.url)), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });

test('The command line limits calls under way and a second, prints its URL, and ends with SIGTERM', async () => {
  const child = start('--max-running', '1', '--requests-per-second', '2');
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const [url = ''] = /http:\S+/.exec(line) ?? [];
  const create = async (prompt: string) => {
    const { status, headers } = await fetch(`${url}/api/v3/images/generations`, {
      method: 'POST',
      headers: { authorization: 'Bearer sandbox-key' },
      body: JSON.stringify({ model: 'dola-seedream-5-0-pro-260628', size: '1280x720', prompt }),
    });
    return [status, headers.get('retry-after')];
  };

  // One of the two has no answer before the end.
  const besideAnother = await Promise.race(['a [fail=timeout]', 'b [fail=timeout]'].map(create));
  const [, tooOften] = await poll(
    () => create('c'),
    ([, retryAfter]) => retryAfter !== null,
  );
  const task = async () => {
    const { status } = await fetch(`${url}/api/v3/contents/generations/tasks`, {
      method: 'POST',
      headers: { authorization: 'Bearer sandbox-key' },
      body: JSON.stringify({ model: 'sandbox-xw3-pro', content: [{ type: 'text', text: 'a [delay=60]' }] }),
    });
    return status;
  };
  const tasks = [await task(), await task()];
  child.kill('SIGTERM');

  expect(tasks).toEqual([200, 429]);
  expect(besideAnother).toEqual([429, null]);
  expect(tooOften).toBe('1');
  expect((await once(child, 'exit'))[0]).toBe(0);
});

test.each([
  ['--port', '70000'],
  ['--max-running', '0'],
  ['--requests-per-second', '1.5'],
])('The command line refuses %s %s', async (option, value) => {
  const child = start(option, value);
  const [error] = await once(createInterface({ input: child.stderr }), 'line');
  const [code] = await once(child, 'close');

  expect([code, error]).toEqual([2, expect.stringContaining(`${option} takes`)]);
});
