import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { bundleFunctions, functionNames } from '../../lib/bundle-functions.ts';
import { isQuick } from '../publish.ts';
import { type Part, type Result, resultOf } from '../results.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Loads of each module, of which the fastest counts: the others tell of the machine's other work. */
const LOADS = isQuick ? 2 : 25;

/** The client alone, as esbuild bundles it for Node when nothing is left out. */
const CLIENT = `import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
export const handler = () => table.send(new GetCommand({ TableName: 'table', Key: {} }));`;

const RATIOS: [what: string, name: string, budget: number][] = [
  ['read', 'api/get-generation', 1.15],
  ['create image', 'api/create-generation', 1.4],
  ['create video', 'api/create-video', 1.4],
  ["create image for OpenAI's clients", 'api/create-openai-image', 1.45],
  ["edit image for OpenAI's clients", 'api/edit-openai-image', 1.55],
  ['read video', 'api/get-video', 1.25],
  ['store', 'workflow/store-outputs', 1.3],
];

/** Kilobytes of the bundles, and how long their modules take to load against the document client alone. */
export const measureBundles = async (): Promise<Part> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-bundles-'));
  try {
    const folderOf = await bundleFunctions(join(folder, 'functions'));
    const fileOf = (name: string): string => join(folderOf(name), 'index.mjs');
    const client = join(folder, 'client.mjs');
    await build({
      stdin: { contents: CLIENT, resolveDir: root },
      outfile: client,
      bundle: true,
      minify: true,
      platform: 'node',
      target: 'node24',
      format: 'esm',
      mainFields: ['module', 'main'],
      legalComments: 'none',
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
    });
    return {
      title: 'Bundles',
      note: `Loading is the processor time of a module's import in a new process, divided by that of the DynamoDB document client alone.`,
      results: [...sizes(fileOf), ...loads(folder, client, fileOf)],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const sizes = (fileOf: (name: string) => string): Result[] => {
  const kilobytes = (name: string): number => statSync(fileOf(name)).size / 1_024;
  const rest = functionNames().filter(
    (name) =>
      !name.startsWith('sandbox/') &&
      !['api/get-generation', 'api/create-generation', 'api/edit-openai-image'].includes(name),
  );
  return [
    resultOf('bundle, read', kilobytes('api/get-generation'), 'KB', { budget: 400 }),
    resultOf('bundle, create image', kilobytes('api/create-generation'), 'KB', { budget: 520 }),
    resultOf('bundle, edit image', kilobytes('api/edit-openai-image'), 'KB', { budget: 640 }),
    resultOf('bundle, largest other', Math.max(...rest.map(kilobytes)), 'KB', { budget: 650 }),
  ];
};

const loads = (folder: string, client: string, fileOf: (name: string) => string): Result[] => {
  const modules = [client, ...RATIOS.map(([, name]) => fileOf(name))];
  const fastest = modules.map(() => Number.POSITIVE_INFINITY);
  // Each in turn, so that a busy moment slows all of them.
  for (let round = 0; round < LOADS; round++)
    for (const [index, module] of modules.entries())
      fastest[index] = Math.min(fastest[index] as number, loadMs(folder, module));
  const cached = Array.from({ length: LOADS + 1 }, () =>
    loadMs(folder, fileOf('api/create-generation'), join(folder, 'cache')),
  );
  const ratios = RATIOS.map(([what, , budget], index) =>
    resultOf(`module load, ${what}`, (fastest[index + 1] as number) / (fastest[0] as number), '×', {
      budget,
    }),
  );
  // The first of them fills the cache.
  const withCache = Math.min(...cached.slice(1)) / (fastest[0] as number);
  return [...ratios, resultOf("module load, create image, with V8's compile cache", withCache, '×')];
};

/** Where V8's compiled code is kept between loads, if it is. */
const loadMs = (folder: string, module: string, cache?: string): number => {
  const script = join(folder, 'load.mjs');
  writeFileSync(
    script,
    `const before = process.cpuUsage();
await import(process.argv[2]);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000);`,
  );
  const environment = {
    AWS_REGION: 'eu-west-1',
    AWS_LAMBDA_FUNCTION_NAME: 'any',
    ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }),
  };
  return Number(
    execFileSync(process.execPath, [script, pathToFileURL(module).href], {
      env: environment,
      encoding: 'utf8',
    }),
  );
};
