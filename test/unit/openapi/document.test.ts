import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { ERROR_STATUS } from '../../../core/errors.ts';
import { CATALOG } from '../../../core/models/catalog.ts';
import { type EndpointName, ROUTES, routeText } from '../../../core/routes.ts';
import { openApiText } from '../../../functions/openapi/document.ts';
import { typesText } from '../../../functions/openapi/typescript.ts';
import { codeIn, PROJECT_ROOT, readDocument, tableRows } from '../docs/documents.ts';

interface Response {
  $ref?: string;
  content?: Record<string, { schema: unknown; examples?: Record<string, unknown> }>;
}
interface OperationObject {
  operationId: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: { name: string; in: string }[];
  responses: Record<string, Response>;
}
const text = readDocument('docs/openapi.json');
const document = JSON.parse(text);
const paths = document.paths as Record<string, Record<string, OperationObject>>;

/** Every operation as `POST /v1/videos`. */
const operations = new Map(
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
  ),
);
/** The owner has chosen no licence yet, so the document names none. */
const WITHOUT_LICENCE = ['--skip-rule', 'info-license'];

describe('docs/openapi.json', () => {
  test('is what npm run openapi writes from the schemas and the routes', () => {
    expect(text).toBe(openApiText());
  });

  test('has the types of the client, which npm run openapi writes too', () => {
    expect(readDocument('packages/client/src/types.ts')).toBe(typesText(document));
  });

  test('has every route of the callers, and no other: 20', () => {
    const names = (Object.keys(ROUTES) as EndpointName[]).filter((name) => name !== 'receive-callback');

    expect([...operations.keys()].toSorted()).toEqual(names.map(routeText).toSorted());
    expect(operations.size).toBe(20);
  });

  test('has the schemas of every body and answer: 64', () => {
    expect(Object.keys(document.components.schemas)).toHaveLength(64);
  });

  test('has no default in a body: generators of types take it for always there', () => {
    for (const schema of ['NewGeneration', 'NewVideo', 'BulkDelete', 'NewUpload']) {
      expect(JSON.stringify(document.components.schemas[schema])).not.toContain('"default"');
    }
    const { required } = document.components.schemas.NewGeneration;
    expect(required).toEqual(['model', 'prompt', 'endUserEmail']);
  });

  test('names the models of this version, and takes any other', () => {
    for (const [schema, type] of [
      ['ImageModelId', 'image'],
      ['VideoModelId', 'video'],
    ] as const) {
      const ids = CATALOG.flatMap((model) => (model.type === type ? [model.id] : []));
      const { anyOf } = document.components.schemas[schema];
      expect(anyOf).toEqual([{ type: 'string', enum: ids }, { type: 'string' }]);
    }
  });

  test('has for each operation the scope, the status and the refusals of docs/api.md', () => {
    const rows = tableRows(readDocument('docs/api.md'), 'route', 'scope');
    const everywhere = ['400', '401', '403', '429', '500'];

    expect(rows).toHaveLength(operations.size);
    for (const [route, scope, success = '', own = ''] of rows) {
      const operation = operations.get(codeIn(route));
      const statuses = new Set([success, ...everywhere, ...own.split(', ')]);

      expect([route, operation?.security]).toEqual([route, [{ apiKey: [codeIn(scope)] }]]);
      expect([route, Object.keys(operation?.responses ?? {})]).toEqual([route, [...statuses].toSorted()]);
    }
  });

  test('has every error code under its status, but those that stand in records only', () => {
    const codes = Object.values(document.components.responses as Record<string, Response>).flatMap(
      ({ content }) => Object.keys(content?.['application/json']?.examples ?? {}),
    );

    expect([...codes, 'provider_timeout', 'provider_error'].toSorted()).toEqual(
      Object.keys(ERROR_STATUS).toSorted(),
    );
    for (const { responses } of operations.values()) {
      for (const [status, { $ref = '' }] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        const response = document.components.responses[$ref.split('/').at(-1) ?? ''];
        const { code } = response.content['application/json'].schema.properties.error.properties;
        const declared: (keyof typeof ERROR_STATUS)[] = code.enum;
        expect(declared.map((each) => ERROR_STATUS[each])).toEqual(declared.map(() => Number(status)));
      }
    }
  });

  test('has a full discriminator on every union of records, models and events', () => {
    const unions = ['GenerationRecord', 'VideoRecord', 'Model'].map(
      (name) => document.components.schemas[name],
    );

    for (const { oneOf, discriminator } of unions) {
      expect(Object.values(discriminator.mapping)).toEqual(oneOf.map(({ $ref }: { $ref: string }) => $ref));
    }
    expect(unions.map(({ oneOf }) => oneOf.length)).toEqual([5, 5, 2]);
  });

  test('has the six webhooks, each with a type of its own, without a key', () => {
    const types = Object.entries(document.webhooks as Record<string, { post: OperationObject }>).map(
      ([name, { post }]) => {
        const [id = ''] = JSON.stringify(post).match(/\w+Event(?=")/) ?? [];
        expect(post.security).toEqual([]);
        expect(Object.keys(post.responses)).toEqual(expect.arrayContaining(['410', '2XX']));
        return [name, document.components.schemas[id].properties.type.const];
      },
    );

    expect(types.map(([name]) => name)).toEqual([
      ...['generation.succeeded', 'generation.failed', 'video.succeeded', 'video.failed'],
      ...['balance.low', 'balance.exhausted'],
    ]);
    for (const [name, type] of types) expect(type).toBe(name);
  });

  test('has no finding of the strictest rules of redocly lint, but for the licence', async () => {
    const cli = join(PROJECT_ROOT, 'node_modules/@redocly/cli/bin/cli.js');
    const rules = ['--extends', 'recommended-strict', ...WITHOUT_LICENCE];
    const lint = ['lint', 'docs/openapi.json', ...rules, '--format', 'json'];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const { stdout } = await promisify(execFile)(process.execPath, [cli, ...lint], {
      cwd: PROJECT_ROOT,
      env,
    });

    const { totals, problems } = JSON.parse(stdout);
    expect(problems).toEqual([]);
    expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 });
  });
});

test('no function loads what the document is made from', async () => {
  const { readImports, readSources } = await import('../architecture/source-graph.ts');
  const sources = readSources('core', 'functions', 'providers');
  const makesTheDocument = (path: string): boolean =>
    /^functions\/openapi\/|^core\/answers\.ts$|-answers\.ts$|^core\/requests\/records\.ts$/.test(path);
  const loading = readImports(sources).filter(
    ({ from, to, typeOnly }) => !typeOnly && makesTheDocument(to) && !makesTheDocument(from),
  );

  expect([...sources.keys()].filter(makesTheDocument).length).toBeGreaterThan(10);
  expect(loading.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});
