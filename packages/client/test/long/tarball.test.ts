import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { packPackage } from '../a-package.ts';
import { FaultyServer, json } from '../server.ts';

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
const server = await new FaultyServer().start();
const folder = mkdtempSync(join(tmpdir(), 'client-tarball-'));
const inFolder = (name: string): string => join(folder, name);

/** An empty project, as strict as the compiler can be, without any types but those of the platform. */
const TSCONFIG = {
  compilerOptions: {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    ...{ noImplicitOverride: true, noPropertyAccessFromIndexSignature: true, skipLibCheck: false },
    ...{
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      types: [],
      module: 'nodenext',
      outDir: 'out',
    },
  },
  include: ['main.ts'],
};

const MAIN = `
import { GenerationClient, type ImageModelId, type NewVideo } from '@generation-service/client';
import { saveTo } from '@generation-service/client/node';

const client = new GenerationClient();
const said = { prompt: 'a lighthouse', endUserEmail: 'ada@example.com' };
let status = 0;
const { images } = await client.run({ ...said, model: 'xSD4.5' }, { onResponse: (response) => (status = response.status) });
for (const image of images) await saveTo('image.bin', await client.download(image));
const { videos } = await client.run({ ...said, model: 'xW3.0s', durationSec: 3 });
console.log(images.length, videos.length, status);

// Any text is a model, and those of the document are offered by an editor.
const later: ImageModelId = 'xSD9';
const body: NewVideo = { ...said, model: 'xW9' };
export const either = async () => {
  const record = await client.run({ ...body, model: later });
  return 'images' in record ? record.images.length : record.videos.length;
};
// @ts-expect-error: a model of images makes no videos
export const wrong = async () => (await client.run({ ...said, model: 'xSD4.5' })).videos;
// @ts-expect-error: a model is text
export const number: ImageModelId = 9;
for await (const { input } of client.listVideos({ model: 'xW3.0s', createdBefore: '2026-11-01', include: 'input' }))
  console.log(input?.durationSec);
`;

beforeAll(async () => {
  const tarball = packPackage(folder);
  writeFileSync(inFolder('package.json'), JSON.stringify({ private: true, type: 'module' }));
  writeFileSync(inFolder('tsconfig.json'), JSON.stringify(TSCONFIG));
  writeFileSync(inFolder('main.ts'), MAIN);
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], {
    cwd: folder,
    stdio: 'pipe',
  });
}, 60_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.close();
});

const own = (name = ''): string => inFolder(join('node_modules/@generation-service/client', name));
const environment = (more: Record<string, string> = {}) => ({ PATH: process.env.PATH, ...more });
const failureOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => '',
    ({ stdout, stderr }) => stdout + stderr,
  );

test('The tarball can be published, and holds the modules with their maps and types, and the README', () => {
  const {
    private: isPrivate,
    dependencies,
    scripts,
    ...rest
  } = JSON.parse(readFileSync(own('package.json'), 'utf8'));

  expect([isPrivate, dependencies]).toEqual([undefined, undefined]);
  expect(rest).toMatchObject({ name: '@generation-service/client', type: 'module', sideEffects: false });
  expect(Object.keys(scripts)).toEqual(['prepack']);
  expect(readdirSync(own()).toSorted()).toEqual(['README.md', 'build', 'package.json']);
  const built = readdirSync(own('build')).filter((name) => !name.endsWith('.d.ts'));
  expect(built.toSorted()).toEqual(['index.js', 'index.js.map', 'node.js', 'node.js.map']);
  const { sources, sourcesContent } = JSON.parse(readFileSync(own('build/index.js.map'), 'utf8'));
  expect(sources).toContain('../src/client.ts');
  expect(sourcesContent).toHaveLength(sources.length);
});

test('An empty strict project compiles with it, and makes an image and a video by the environment alone', async () => {
  const compiled = run(process.execPath, [compiler, '-p', 'tsconfig.json'], { cwd: folder });
  expect(await failureOf(compiled)).toBe('');

  server.answer((seen, response) => {
    const [, noun = ''] = /^\/v1\/(\w+)/.exec(seen.path) ?? [];
    const item = { id: 'img_1_0', url: `${server.url}/file`, expiresAt: '2999-01-01T00:00:00.000Z' };
    const answers: Record<string, unknown> = {
      models: { data: ['xSD4.5', 'xW3.0s'].map((id) => ({ id, type: id === 'xW3.0s' ? 'video' : 'image' })) },
      generations: { requestId: 'img_1', status: 'succeeded', images: [item] },
      videos: seen.path.includes('?')
        ? { items: [{ requestId: 'vid_1', input: { durationSec: 3 } }], hasMore: false }
        : { requestId: 'vid_1', status: 'succeeded', videos: [item] },
    };
    if (noun === '') return void response.writeHead(200, { 'content-length': 5 }).end('hello');
    return json(200, answers[noun])(seen, response);
  });
  const env = environment({ GENERATION_BASE_URL: server.url, GENERATION_API_KEY: 'gsk_test' });
  const { stdout } = await run(process.execPath, ['out/main.js'], { cwd: folder, env });

  expect(stdout).toBe('1 1 200\n3\n');
  expect(readFileSync(inFolder('image.bin'), 'utf8')).toBe('hello');
});

test('A failure is legible: its trace has short lines, and with source maps those of the sources', async () => {
  const trace = await failureOf(run(process.execPath, ['out/main.js'], { cwd: folder, env: environment() }));
  const mapped = await failureOf(
    run(process.execPath, ['--enable-source-maps', 'out/main.js'], { cwd: folder, env: environment() }),
  );

  expect(trace).toContain('TypeError: baseUrl is missing: give it to the client, or set GENERATION_BASE_URL');
  expect(trace).toMatch(/at new GenerationClient \(.*build\/index\.js:\d+:\d+\)/);
  expect(Math.max(...trace.split('\n').map((line) => line.length))).toBeLessThan(200);
  expect(mapped).toMatch(/at new GenerationClient \(.*src\/client\.ts:\d+:\d+\)/);
});

test('The client adds less than 12.5 kB to a minified bundle', async () => {
  const { outputFiles } = await build({
    stdin: { contents: "export * from '@generation-service/client'", resolveDir: folder },
    ...{ bundle: true, minify: true, format: 'esm', write: false, logLevel: 'silent' },
  });

  expect(outputFiles[0]?.contents.length).toBeGreaterThan(5_000);
  expect(outputFiles[0]?.contents.length).toBeLessThan(12_500);
});
