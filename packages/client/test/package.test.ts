import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { codeBlocksOf, installPackage } from './a-package.ts';
import { FaultyServer, json } from './server.ts';

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const server = await new FaultyServer().start();
const folder = mkdtempSync(join(tmpdir(), 'client-package-'));
let own: string;
beforeAll(() => {
  own = installPackage(folder);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.close();
});

const read = (name: string): string => readFileSync(join(own, name), 'utf8');

describe('the package', () => {
  // long/tarball.test.ts measures it.
  test('has a main entry that imports nothing', () => {
    expect(read('build/index.js')).not.toMatch(/\bimport\b|\brequire\b|node:|\bBuffer\b/);
  });

  test('has no finding of publint', async () => {
    const { messages, pkg } = await publint({ pkgDir: own, strict: true, pack: false });

    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });
});

/** Node 24, and the one on the PATH outside the project, which may be older. */
const NODES = [
  process.execPath,
  ...(process.env.PATH ?? '')
    .split(delimiter)
    .filter((directory) => !directory.includes('node_modules'))
    .map((directory) => join(directory, 'node')),
];
const nodeOnPath = async (): Promise<string | undefined> => {
  for (const node of NODES.slice(1)) {
    if (await run(node, ['--version']).catch(() => undefined)) return node;
  }
  return undefined;
};

const CALLS = `
const client = new GenerationClient({ baseUrl: process.argv[2], apiKey: 'gsk_test' });
client.createImage({ model: 'a', prompt: 'b', endUserEmail: 'c' }).then(({ requestId }) => console.log(requestId));
`;

describe('its modules', () => {
  beforeAll(() => {
    writeFileSync(
      join(folder, 'a.mjs'),
      `import { GenerationClient } from '@generation-service/client';${CALLS}`,
    );
    writeFileSync(
      join(folder, 'b.cjs'),
      `const { GenerationClient } = require('@generation-service/client');${CALLS}`,
    );
  });

  test.each([
    ['import', 'a.mjs'],
    ['require', 'b.cjs'],
  ])('load by %s, in this Node and in the one of the machine', async (_how, file) => {
    server.answer(json(202, { requestId: 'img_1' }));
    const nodes = [process.execPath, (await nodeOnPath()) ?? process.execPath];
    for (const node of nodes) {
      const env = { ...process.env, NODE_NO_WARNINGS: '1' };
      const { stdout } = await run(node, [join(folder, file), server.url], { env });

      expect(stdout).toBe('img_1\n');
    }
  });
});

const CONSUMER = `
import { ApiError, GenerationClient, type NewGeneration, verifyWebhook } from '@generation-service/client';
import { saveTo } from '@generation-service/client/node';

const client = new GenerationClient({ baseUrl: 'https://api.example.com', apiKey: 'gsk_1' });
const body: NewGeneration = { model: 'a', prompt: 'b', endUserEmail: 'c' };
export const make = async (signal: AbortSignal): Promise<string[]> => {
  const finished = await client.waitFor(await client.createImage(body), { signal });
  if (finished.status === 'failed') throw new Error(finished.error.code);
  if (finished.status === 'expired') return [];
  for (const image of finished.images) await saveTo(image.id, await client.download(image));
  // @ts-expect-error: an image may have an error in place of its URL
  finished.images.map((image) => image.url);
  const { videos } = await client.waitForSuccess(await client.createVideo({ ...body, durationSec: 3 }));
  return videos.map((video) => ('url' in video ? video.url : video.error.code));
};
export const told = async (raw: string, headers: Headers): Promise<string> => {
  const { event } = await verifyWebhook(raw, headers, 'whsec_x');
  return event.type === 'video.succeeded' ? event.data.model : event.timestamp;
};
export const why = (error: unknown): string | undefined => (error instanceof ApiError ? error.code : undefined);
// @ts-expect-error: the field has another name
export const wrong: NewGeneration = { model: 'a', prompt: 'b', endUserEmail: 'c', number: 1 };
// @ts-expect-error: videos have no images
export const mixed = async () => (await client.waitForSuccess(await client.createVideo(body))).images;
`;

describe('its types', () => {
  const [firstImage = ''] = codeBlocksOf(readFileSync(new URL('../README.md', import.meta.url), 'utf8'));
  beforeAll(() => {
    const modules = dirname(dirname(require.resolve('@types/node/package.json')));
    symlinkSync(modules, join(folder, 'node_modules/@types'));
    writeFileSync(join(folder, 'consumer.ts'), CONSUMER);
    writeFileSync(join(folder, 'first-image.ts'), `${firstImage}export {};\n`);
  });

  test.each([
    ['node16', 'node16'],
    ['preserve', 'bundler'],
  ])('are those of the document, for module %s', async (module, moduleResolution) => {
    const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
    const options = [
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--lib',
      'es2022',
      '--types',
      'node',
      '--ignoreConfig',
    ];
    const kind = ['--module', module, '--moduleResolution', moduleResolution];
    const call = run(process.execPath, [compiler, ...options, ...kind, 'consumer.ts', 'first-image.ts'], {
      cwd: folder,
    });

    expect(
      await call.then(
        () => '',
        ({ stdout }) => stdout,
      ),
    ).toBe('');
  });
});

test('The README makes its first image in ten lines', () => {
  const [firstImage = ''] = codeBlocksOf(readFileSync(new URL('../README.md', import.meta.url), 'utf8'));

  expect(firstImage.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
});
