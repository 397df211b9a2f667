import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { codeBlocksOf } from '../../../client/test/a-package.ts';
import { json } from '../../../client/test/server.ts';
import { installProvider } from '../a-package.ts';
import { PNG, startService } from '../a-service.ts';

const run = promisify(execFile);
const here = fileURLToPath(new URL('../..', import.meta.url));
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const { server, answer, created } = startService();
const folder = mkdtempSync(join(tmpdir(), 'ai-sdk-tarball-'));
const inFolder = (name: string): string => join(folder, name);
const own = (name = ''): string => inFolder(join('node_modules/@generation-service/ai-sdk', name));
const blocks = codeBlocksOf(readFileSync(join(here, 'README.md'), 'utf8'));

/** An empty project, as strict as the compiler can be, without any types but those of the platform. */
const TSCONFIG = {
  compilerOptions: {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    ...{ noImplicitOverride: true, noPropertyAccessFromIndexSignature: true, skipLibCheck: true },
    ...{ target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable', 'esnext.disposable'], types: ['node'] },
    ...{ module: 'nodenext', outDir: 'out' },
  },
  include: ['main.ts', 'readme-*.ts'],
};

/** The same for what uses this package alone: its types are checked too. The AI SDK's own types are not as strict. */
const ALONE = {
  compilerOptions: { ...TSCONFIG.compilerOptions, skipLibCheck: false, noEmit: true },
  include: ['alone.ts'],
};

const ALONE_MAIN = `
import { createGenerationService, type GenerationServiceProvider } from '@generation-service/ai-sdk';

export const service: GenerationServiceProvider = createGenerationService({ endUserEmail: 'ada@example.com' });
export const own: string[] = [service.image('xSD4.5').modelId, service.video('xW9').provider];
`;

const MAIN = `
import { createGenerationService, type GenerationServiceImageOptions, generationService } from '@generation-service/ai-sdk';
import { createProviderRegistry, generateImage } from 'ai';

const options: GenerationServiceImageOptions = { pollIntervalMs: 1, size: '2K' };
const service = createGenerationService({ endUserEmail: 'ada@example.com', headers: { 'x-app': 'a' } });
const registry = createProviderRegistry({ service });
const { images, warnings } = await generateImage({
  model: registry.imageModel('service:xSD4.5'),
  prompt: 'a lighthouse',
  providerOptions: { generationService: options },
});
console.log(images.length, warnings.length, generationService.video('xW3.0s').provider);
// @ts-expect-error: the setting has another name
export const wrong = createGenerationService({ baseUrl: 'https://api.example.com' });
`;

beforeAll(() => {
  installProvider(folder);
  writeFileSync(inFolder('package.json'), JSON.stringify({ private: true, type: 'module' }));
  writeFileSync(inFolder('tsconfig.json'), JSON.stringify(TSCONFIG));
  writeFileSync(inFolder('main.ts'), MAIN);
  writeFileSync(inFolder('tsconfig.alone.json'), JSON.stringify(ALONE));
  writeFileSync(inFolder('alone.ts'), ALONE_MAIN);
  for (const [index, code] of blocks.entries()) writeFileSync(inFolder(`readme-${index}.ts`), code);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

const failureOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => '',
    ({ stdout, stderr }) => stdout + stderr,
  );
const environment = (more: Record<string, string> = {}) => ({ PATH: process.env.PATH, ...more });

test('The tarball can be published, and holds the module with its map and types, and the README', async () => {
  const manifest = JSON.parse(readFileSync(own('package.json'), 'utf8'));
  const { version } = JSON.parse(readFileSync(join(here, '../client/package.json'), 'utf8'));

  expect(manifest.private).toBeUndefined();
  // The client of the same release, which npm would not find by a range.
  expect(manifest.dependencies).toEqual({
    '@ai-sdk/provider': expect.stringMatching(/^\^4/),
    '@generation-service/client': version,
  });
  expect(manifest.peerDependencies).toEqual({ ai: expect.stringMatching(/^\^7/) });
  expect(readdirSync(own()).toSorted()).toEqual(['README.md', 'build', 'package.json']);
  const built = readdirSync(own('build')).filter((name) => !name.endsWith('.d.ts'));
  expect(built.toSorted()).toEqual(['index.js', 'index.js.map']);
  const { sources, sourcesContent } = JSON.parse(readFileSync(own('build/index.js.map'), 'utf8'));
  expect(sources).toContain('../src/provider.ts');
  expect(sourcesContent).toHaveLength(sources.length);
  const { messages, pkg } = await publint({ pkgDir: own(), strict: true, pack: false });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test('Its module and its types import what it depends on, and nothing else', () => {
  const texts = readdirSync(own('build'))
    .filter((name) => /\.(js|d\.ts)$/.test(name))
    .map((name) => readFileSync(own(join('build', name)), 'utf8'));
  const named = texts.flatMap((text) => [...text.matchAll(/(?:from |import\()["']([^."'][^"']*)/g)]);

  expect([...new Set(named.map(([, name]) => name))].toSorted()).toEqual([
    '@ai-sdk/provider',
    '@generation-service/client',
  ]);
  expect(texts.join('')).not.toMatch(/from '\.[^']*\.ts'/);
});

test('An empty strict project compiles with it and its README, and makes an image by the environment', async () => {
  for (const project of ['tsconfig.json', 'tsconfig.alone.json']) {
    expect(await failureOf(run(process.execPath, [compiler, '-p', project], { cwd: folder }))).toBe('');
  }

  answer();
  const env = environment({ GENERATION_BASE_URL: server.url, GENERATION_API_KEY: 'gsk_test' });
  const { stdout } = await run(process.execPath, ['out/main.js'], { cwd: folder, env });

  expect(stdout).toBe('1 0 generation-service.video\n');
  expect(created()).toMatchObject({ model: 'xSD4.5', size: '2K', endUserEmail: 'ada@example.com' });
});

test('A missing setting is legible: its trace names the sources', async () => {
  const script = ['--enable-source-maps', 'out/main.js'];
  const trace = await failureOf(run(process.execPath, script, { cwd: folder, env: environment() }));

  expect(trace).toContain('baseUrl is missing: give it to the client, or set GENERATION_BASE_URL');
  expect(trace).toMatch(/ai-sdk\/src\/service\.ts:\d+:\d+/);
});

test('The README makes its first image in ten lines, which run as written', async () => {
  expect(blocks[0]?.trimEnd().split('\n').length).toBeLessThanOrEqual(10);

  // Done at once: there is no pause before the first read.
  answer({ 'POST /v1/generations': json(202, { requestId: 'img_1', status: 'succeeded' }) });
  const env = environment({ GENERATION_BASE_URL: server.url, GENERATION_API_KEY: 'gsk_test' });
  await run(process.execPath, ['out/readme-0.js'], { cwd: folder, env });

  expect(new Uint8Array(readFileSync(inFolder('lighthouse.png')))).toEqual(PNG);
});
