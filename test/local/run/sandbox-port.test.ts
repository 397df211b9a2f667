import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startSandboxWhereItWas } from '../../../local/run/sandbox-port.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'generation-service-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const file = () => join(folder, 'sandbox-port');
/** A start that gives port 4000 when any may be taken, and refuses the taken ones. */
const starting =
  (...taken: number[]) =>
  async (port: number) => {
    if (taken.includes(port)) throw Object.assign(new Error('in use'), { code: 'EADDRINUSE' });
    return { url: `http://127.0.0.1:${port === 0 ? 4000 : port}` };
  };

test('a sandbox starts on any free port first, then on the same one again', async () => {
  expect(await startSandboxWhereItWas(starting(), file())).toEqual({ url: 'http://127.0.0.1:4000' });

  expect(await startSandboxWhereItWas(starting(0), file())).toEqual({ url: 'http://127.0.0.1:4000' });
});

test('a sandbox whose port is taken by now starts on another one', async () => {
  writeFileSync(file(), '5000');

  expect(await startSandboxWhereItWas(starting(5000), file())).toEqual({
    url: 'http://127.0.0.1:4000',
  });
});

test('a port file that holds no port counts as none', async () => {
  writeFileSync(file(), 'x');

  expect(await startSandboxWhereItWas(starting(), file())).toEqual({ url: 'http://127.0.0.1:4000' });
});
