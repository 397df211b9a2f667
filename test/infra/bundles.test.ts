import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { LIBAV_FILES, LIBAV_PACKAGE } from '@generation-service/media/libav';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stop } from 'esbuild';
import { CONSOLE_PAGES, PUBLIC_PAGES } from '../../core/files/pages.ts';
import { cachedBundles } from '../../lib/bundle-cache.ts';
import { functionNames } from '../../lib/bundle-functions.ts';
import { aVideo } from '../../packages/media/test/videos.ts';
import { EVERY_OPTION } from './option-sets.ts';
import { synthesizeService } from './service-template.ts';

/** The largest bundle in kilobytes (1024 bytes), by what waits for it to load. A larger one has pulled in something it need not. */
const MAX_KILOBYTES = {
  read: 400,
  createImage: 505,
  editImage: 615,
  videos: 640,
  reconcile: 575,
  any: 525,
  sandbox: 1_240,
};
const READS = ['get-balance', 'get-generation', 'get-openai-model', 'get-video', 'list-.*'];

const maxKilobytesOf = (name: string): number => {
  // The encoder of videos.
  if (name.startsWith('sandbox/')) return MAX_KILOBYTES.sandbox;
  if (new RegExp(`^api/(${READS.join('|')})$`).test(name)) return MAX_KILOBYTES.read;
  // It makes images and stores files.
  if (name === 'api/edit-openai-image') return MAX_KILOBYTES.editImage;
  // It creates, stores files, lists, signs and deletes.
  if (name === 'api/openai-videos') return MAX_KILOBYTES.videos;
  // The whole control loop, with the adapters that list tasks.
  if (name === 'events/reconcile') return MAX_KILOBYTES.reconcile;
  return name === 'api/create-generation' ? MAX_KILOBYTES.createImage : MAX_KILOBYTES.any;
};

const NAMES = functionNames();
/** Functions that a stack has only when it is asked for them. */
const OPTIONAL = ['sandbox/answer-as-providers', 'events/run-canary', 'api/create-quote'];
/** The functions that measure videos. */
const VIDEO_FUNCTIONS = ['media/measure-clips', 'workflow/store-outputs'];
/** The files of a bundle: the module, and for some functions the public pages, or the measuring thread with its library. */
const filesOf = (name: string): string[] => {
  const pages = name === 'events/publish-pages' ? [...PUBLIC_PAGES, ...CONSOLE_PAGES] : [];
  const forVideos = VIDEO_FUNCTIONS.includes(name)
    ? ['video-worker.mjs', ...LIBAV_FILES.map((file) => `node_modules/${LIBAV_PACKAGE}/${file}`)]
    : [];
  return ['index.mjs', ...pages.map(({ file }) => file), ...forVideos].toSorted();
};
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();

let folder: string;
let bundleOf: (name: string) => string;
/** The `typeof` each bundle's handler, and what Node has loaded once all bundles are. */
let handlers: Record<string, string>;
let nodeModules: string[];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  // Outside the project: no bundle finds a package there. test/long/fresh-bundles.test.ts compares them with a fresh build.
  cpSync((await cachedBundles())(''), folder, { recursive: true });
  bundleOf = (name) => join(folder, name);
  ({ handlers, nodeModules } = loadInOneProcess());
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stop();
});

const loadInOneProcess = (): { handlers: Record<string, string>; nodeModules: string[] } => {
  const urls = NAMES.map((name) => [name, pathToFileURL(join(bundleOf(name), 'index.mjs')).href]);
  const script = `const handlers = {};
    for (const [name, url] of ${JSON.stringify(urls)}) handlers[name] = typeof (await import(url)).handler;
    console.log(JSON.stringify({ handlers, nodeModules: process.moduleLoadList }));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: folder,
    env: { AWS_REGION: 'eu-west-1', AWS_LAMBDA_FUNCTION_NAME: 'any' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return JSON.parse(printed);
};

test('there is exactly one bundle for each function of the stack, the stand-in for the providers included', async () => {
  const bundles = readdirSync(folder).flatMap((group) =>
    readdirSync(join(folder, group)).map((name) => `${group}/${name}`),
  );

  const { functions } = await synthesizeService(EVERY_OPTION);
  expect(bundles.toSorted()).toEqual(Object.keys(functions).toSorted());
  expect(bundles.toSorted()).toEqual(NAMES.toSorted());
  expect(Object.keys((await synthesizeService()).functions).toSorted()).toEqual(
    NAMES.filter((name) => !OPTIONAL.includes(name)).toSorted(),
  );
});

test('no bundle imports what loads undici or HTTP/2, which would take 60 ms of a cold start', () => {
  expect(nodeModules).toContain('NativeModule http');
  expect(nodeModules.filter((name) => /undici|http2/.test(name))).toEqual([]);
  for (const name of NAMES) {
    const text = readFileSync(join(bundleOf(name), 'index.mjs'), 'utf8');
    // Also where it is imported only once it is used.
    expect({ name, imports: /(from|import\()\s*["'](node:)?http["']/.test(text) }).toEqual({
      name,
      imports: false,
    });
  }
});

test.each(VIDEO_FUNCTIONS)('the bundle of %s measures a video outside the project', async (name) => {
  const file = join(folder, 'clip.mp4');
  const video = await aVideo({ seconds: 3 });
  writeFileSync(file, video);
  const thread = new Worker(join(bundleOf(name), 'video-worker.mjs'), { execArgv: [] });
  thread.postMessage({ fd: openSync(file, 'r'), sizeBytes: video.length, demuxer: 'mov' });

  const [answer] = await once(thread, 'message');

  expect(answer).toMatchObject({ measurement: { durationSec: 3 } });
  await thread.terminate();
  rmSync(file);
});

describe.each(NAMES)('the bundle of %s', (name) => {
  test('has its files and no others, and a module within its size limit', () => {
    expect(filesIn(bundleOf(name))).toEqual(filesOf(name));
    const kilobytes = statSync(join(bundleOf(name), 'index.mjs')).size / 1024;

    expect(kilobytes).toBeLessThanOrEqual(maxKilobytesOf(name));
  });

  test('loads outside the project, and has a handler', () => {
    expect(handlers[name]).toBe('function');
  });
});
