import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { parseImageRequest } from '../../../core/creation/create-image-rules.ts';
import { parseVideoRequest } from '../../../core/creation/create-video-rules.ts';
import { idempotencyKeyProblem } from '../../../core/creation/idempotency.ts';
import { parseFields } from '../../../core/fields.ts';
import { CATALOG } from '../../../core/models/catalog.ts';
import { BALANCE_QUERY, END_USERS_QUERY, PAGE_QUERY } from '../../../functions/http/queries.ts';
import { REQUESTS_QUERIES } from '../../../functions/http/request-queries.ts';
import { readDocument } from '../docs/documents.ts';

const document = JSON.parse(readDocument('docs/openapi.json'));
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, validateSchema: false });
ajv.addSchema(document, 'openapi');

type Parse = typeof parseImageRequest | typeof parseVideoRequest;
type Body = Record<string, unknown>;

/** The fields that the document finds wrong: the first name of each path. */
const rejectedBy = (schema: string, body: Body): string[] => {
  const validate = ajv.getSchema(`openapi#/components/schemas/${schema}`);
  if (!validate) throw new Error(`There is no schema ${schema}.`);
  if (validate(body)) return [];
  const names = (validate.errors ?? []).map(({ instancePath, params }) => {
    const [, top] = instancePath.split('/');
    return top ?? params.missingProperty ?? params.additionalProperty;
  });
  return [...new Set(names)];
};

/** The fields that the service refuses: the first name of each path. */
const refusedBy = (parse: Parse, body: Body): string[] => {
  const parsed = parse(body, false);
  if (!parsed.ok) expect(Object.keys(parsed.error.fields)).not.toEqual([]);
  return parsed.ok ? [] : Object.keys(parsed.error.fields).map((path) => path.split(/[.[]/)[0] ?? '');
};

const ODD = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, 1, 2, 15, 16, 30, 31, 1.5, -1, '', ' ', '\u3000', [], {}, [[]]),
  fc.constantFrom<unknown>(
    '1K',
    '4K',
    '1.5K',
    '15K',
    '2048x2048',
    '0x1',
    '1234567x1',
    'auto',
    'square',
    '720p',
  ),
  fc.constantFrom<unknown>(
    'https://example.com/a.png',
    `https://example.com/${'x'.repeat(2028)}`,
    'x'.repeat(4001),
  ),
  fc.constantFrom<unknown>(
    { maxImages: 1 },
    { maxImages: 16 },
    { maxImages: '1' },
    { maxImages: 1, more: 1 },
  ),
  fc.constantFrom<unknown>('ada@example.com', ' ADA@EXAMPLE.COM ', 'a', `${'a'.repeat(2001)}@example.com`),
  fc.array(fc.constantFrom('https://example.com/a.png', 'no URL', ''), { maxLength: 11 }),
  fc.jsonValue({ maxDepth: 1 }),
);
const KINDS = [
  ['NewGeneration', parseImageRequest, 'image'],
  ['NewVideo', parseVideoRequest, 'video'],
] as const;

describe.each(KINDS)('%s', (schema, parse, type) => {
  const models = CATALOG.filter((model) => model.type === type).map(({ id }) => id);
  // Without a model, the service cannot judge what depends on it, and names the model only.
  const names = Object.keys(document.components.schemas[schema].properties).filter(
    (name) => name !== 'model',
  );
  const base = { prompt: 'a lighthouse', endUserEmail: 'ada@example.com' };
  const bodies = fc
    .tuple(
      fc.constantFrom(...models),
      fc.array(fc.tuple(fc.constantFrom(...names, 'seed', '__proto__'), ODD), { maxLength: 3 }),
      fc.array(fc.constantFrom('prompt', 'endUserEmail'), { maxLength: 1 }),
    )
    .map(([model, changes, left]) => {
      const body: Body = Object.fromEntries([...Object.entries({ model, ...base }), ...changes]);
      for (const name of left) delete body[name];
      return body;
    });

  test('rejects nothing that the service takes: what it rejects, the service refuses on the same field', () => {
    let rejected = 0;
    fc.assert(
      fc.property(bodies, (body) => {
        const fields = rejectedBy(schema, body);
        if (fields.length > 0) rejected += 1;
        expect(refusedBy(parse, body)).toEqual(expect.arrayContaining(fields));
      }),
      { numRuns: 500 },
    );
    expect(rejected).toBeGreaterThan(125);
  });

  test.each([[undefined], [null], [1], [[]]])('asks for a model: %j', (model) => {
    expect(rejectedBy(schema, { ...base, ...(model !== undefined && { model }) })).toEqual(['model']);
    expect(refusedBy(parse, { ...base, model })).toEqual(['model']);
  });

  test('takes the smallest body, and its example', () => {
    for (const model of models) expect(rejectedBy(schema, { model, ...base })).toEqual([]);
    const path = type === 'image' ? '/v1/generations' : '/v1/videos';
    const { example } = document.paths[path].post.requestBody.content['application/json'];

    expect(refusedBy(parse, example)).toEqual([]);
  });
});

test.each(['', 'a', ' ', '~', 'x'.repeat(255), 'x'.repeat(256), 'é', '\n', '\x7f', '\x1f'])(
  'an Idempotency-Key is declared as the service takes it: %j',
  (key) => {
    const { schema } = document.components.parameters.IdempotencyKey;

    expect(ajv.validate(schema, key)).toBe(idempotencyKeyProblem(key) === undefined);
  },
);

const QUERIES = [
  ['/v1/generations', REQUESTS_QUERIES.image],
  ['/v1/videos', REQUESTS_QUERIES.video],
  ['/v1/end-users', END_USERS_QUERY],
  ['/v1/balance/history', PAGE_QUERY],
  ['/v1/balance', BALANCE_QUERY],
] as const;

/** Parameters whose rules the document has in words: dates, addresses, models. */
const IN_WORDS = ['createdAfter', 'createdBefore', 'endUserEmail', 'model'];

describe.each(QUERIES)('the query of %s', (path, shape) => {
  const parameters: { name: string; schema: { type?: string } }[] = document.paths[path].get.parameters;
  /** A parameter's text as the value that the document describes. */
  const describedBy = (text: string, type: string | undefined): unknown => {
    if (type === 'integer' && /^\d+$/.test(text)) return Number(text);
    if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
    return text;
  };

  test('declares every parameter', () => {
    expect(parameters.map(({ name }) => name)).toEqual(Object.keys(shape));
  });

  test.each(parameters)(
    '$name is refused wherever the document rejects it, and taken at its edges',
    ({ name, schema }) => {
      const texts = [
        ...[
          '',
          '0',
          '1',
          '50',
          '51',
          '1000000',
          '1000001',
          '-1',
          '1.5',
          'x',
          'true',
          'false',
          'yes',
          'failed',
          'done',
        ],
        ...['2026-11-01', '2026-11-01T00:00:00Z', 'ada@example.com', 'x'.repeat(254), 'x'.repeat(255)],
        ...['xSD4.5', 'xW3.0s', 'input', 'account'],
      ];
      const taken = texts.filter(
        (text) => Object.keys(parseFields(shape, { [name]: text }).fields).length === 0,
      );
      const declared = texts.filter((text) => ajv.validate(schema, describedBy(text, schema.type)));

      expect(taken.filter((text) => !declared.includes(text))).toEqual([]);
      expect(taken.length).toBeGreaterThan(0);
      if (!IN_WORDS.includes(name)) expect(declared).toEqual(taken);
    },
  );
});
