import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { PROJECT_ROOT, readDocument } from '../docs/documents.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'code-samples-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Operation {
  operationId: string;
  requestBody?: { content: Record<'application/json', { example: unknown }> };
  'x-codeSamples': { label: string; source: string }[];
}
const { paths } = JSON.parse(readDocument('docs/openapi.json')) as {
  paths: Record<string, Record<string, Operation>>;
};
const OPERATIONS = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);
const sourceIn = ({ operation }: (typeof OPERATIONS)[number], language: string): string =>
  operation['x-codeSamples'].find(({ label }) => label === language)?.source ?? '';
/** A path with any value for its parameter. */
const patternOf = (path: string): string => path.replace(/\{\w+\}/, '[\\w%.]+');

describe('the code samples of the operations', () => {
  test.each(OPERATIONS)('send $method $path in curl', async (each) => {
    const curl = sourceIn(each, 'curl');
    // In place of curl: tells the method, the URL and the body that it would send.
    const told = `curl() { node -e 'console.log(JSON.stringify(process.argv.slice(1)))' -- "$@"; }; ${curl}`;
    const env = {
      PATH: dirname(process.execPath),
      GENERATION_BASE_URL: 'https://a',
      GENERATION_API_KEY: 'k',
    };
    const { stdout } = await run('/bin/bash', ['-ec', told], { env });
    const given: string[] = JSON.parse(stdout);

    const data = given.includes('-d') ? given[given.indexOf('-d') + 1] : undefined;
    const method = given.includes('-X')
      ? given[given.indexOf('-X') + 1]
      : data === undefined
        ? 'GET'
        : 'POST';
    expect(method).toBe(each.method);
    expect(given.find((one) => one.startsWith('https:'))).toMatch(
      new RegExp(`^https://a${patternOf(each.path)}$`),
    );
    expect(given).toContain('Authorization: Bearer k');
    expect(data && JSON.parse(data)).toEqual(each.operation.requestBody?.content['application/json'].example);
  });

  test('are without a type error in TypeScript', async () => {
    const compiler = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin/tsc',
    );
    for (const each of OPERATIONS) {
      writeFileSync(join(folder, `${each.operation.operationId}.ts`), sourceIn(each, 'TypeScript'));
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    const client = join(PROJECT_ROOT, 'packages/client/src/index.ts');
    const compilerOptions = {
      ...{
        noEmit: true,
        strict: true,
        target: 'es2024',
        module: 'nodenext',
        types: [],
        lib: ['es2024', 'dom'],
      },
      ...{ allowImportingTsExtensions: true, paths: { '@generation-service/client': [client] } },
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));

    expect(
      await run(process.execPath, [compiler, '-p', folder]).then(
        () => '',
        ({ stdout }) => stdout,
      ),
    ).toBe('');
  });

  const hasPython = spawnSync('python3', ['--version']).status === 0;
  (hasPython ? test : test.skip)('send the same in Python', async () => {
    // In place of the network: tells what would be sent.
    const told = `import io, json, sys, urllib.error, urllib.request
def tell(request):
    sent = [request.get_method(), request.full_url, request.headers, request.data and json.loads(request.data)]
    return io.StringIO(json.dumps(sent))
urllib.request.urlopen = tell
for source in json.load(sys.stdin): exec(source, {})
`;
    const env = {
      ...process.env,
      GENERATION_BASE_URL: 'https://a',
      GENERATION_API_KEY: 'k',
      PYTHONIOENCODING: 'utf8',
    };
    const { stdout, status } = spawnSync('python3', ['-c', told], {
      env,
      encoding: 'utf8',
      input: JSON.stringify(OPERATIONS.map((each) => sourceIn(each, 'Python'))),
    });
    const lines = stdout.trim().split('\n');

    expect([status, lines.length]).toEqual([0, OPERATIONS.length]);
    for (const [index, { path, method, operation }] of OPERATIONS.entries()) {
      expect(lines[index]).toContain(`['${method}', 'https://a/v1`);
      expect(lines[index]).toMatch(new RegExp(`'https://a${patternOf(path)}'`));
      expect(lines[index]).toContain("'Authorization': 'Bearer k'");
      expect(lines[index]?.endsWith('None]')).toBe(operation.requestBody === undefined);
    }
  });
});
