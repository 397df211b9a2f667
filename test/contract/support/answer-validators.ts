import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** A part of the document. */
export type Json = { [name: string]: unknown };

/** The committed document. */
export interface OpenApi {
  paths: Record<string, Record<string, { responses: Record<string, Json> }>>;
  components: {
    responses: Record<string, Json>;
    headers: Record<string, Json>;
    schemas: Record<string, Json>;
  };
}

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The document with every object closed: callers must bear new fields, but a field that the service answers and the
 * document does not name is a mistake.
 */
const closed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(closed);
  if (!isJson(value)) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, closed(one)]));
  return isJson(value.properties) && value.type === 'object'
    ? { additionalProperties: false, ...inner }
    : inner;
};

const openApi = JSON.parse(
  readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
) as OpenApi;

/** Ids of a document that Ajv has. */
const DOCUMENT = 'openapi';
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

// The document as a whole is no schema: only what is referred to in it. Few validators run often enough to be optimized.
const ajv = new Ajv2020({
  strict: false,
  validateSchema: false,
  formats: { 'date-time': INSTANT, uri: true },
  code: { optimize: false },
}).addSchema(closed(openApi) as Json, DOCUMENT);

const validators = new Map<string, ValidateFunction>();

/** The validator of the schema at a place in the document, such as `/components/schemas/Balance`. */
const validatorOf = (pointer: string): ValidateFunction => {
  const known = validators.get(pointer) ?? ajv.compile({ $ref: `${DOCUMENT}#${pointer}` });
  validators.set(pointer, known);
  return known;
};

/** What `answers-environment.ts` gives to test files. */
export const ANSWER_VALIDATORS = { openApi, validatorOf };
