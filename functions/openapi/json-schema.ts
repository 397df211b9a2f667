import * as z from 'zod/mini';
import { documentation } from '../../core/answers.ts';

/** A JSON Schema, or any other part of the document. */
export type Json = { [name: string]: unknown };

/** The address of a component of the document. */
export const schemaRef = (id: string): Json => ({ $ref: `#/components/schemas/${id}` });

/** Keywords of a schema in the order that people read; the others follow. */
const KEYWORDS = [
  '$ref',
  'title',
  'description',
  'type',
  'const',
  'enum',
  'format',
  'required',
  'properties',
];
/** The bounds that zod writes for every integer. */
const BOUNDS_OF_INTEGERS = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a keyword says something about the API, not about zod. */
const isSaid = (name: string, value: unknown): boolean => {
  if (name === '$schema' || name === '$id' || name === 'propertyNames') return false;
  if (name === 'id') return isJson(value);
  // Of a list in an answer, it is the one of the stored item.
  if (name === 'default') return !Array.isArray(value);
  if (name === 'minimum' || name === 'maximum') return !BOUNDS_OF_INTEGERS.includes(Number(value));
  return !(name === 'description' && value === '');
};

/** A schema of the document: without zod's own keywords, with keywords in a fixed order. */
const tidied = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidied);
  if (!isJson(value)) return value;
  const rank = (name: string): number =>
    (KEYWORDS.indexOf(name) + KEYWORDS.length + 1) % (KEYWORDS.length + 1);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => isSaid(name, inner))
      .sort(([one], [other]) => rank(one) - rank(other))
      .map(([name, inner]) => [
        name,
        name === 'properties' && isJson(inner)
          ? Object.fromEntries(Object.entries(inner).map(([property, schema]) => [property, tidied(schema)]))
          : tidied(inner),
      ]),
  );
};

/** A part of the document with every object in it changed, the inner ones first. */
const changed = (value: unknown, change: (object: Json) => Json): unknown => {
  if (Array.isArray(value)) return value.map((inner) => changed(inner, change));
  if (!isJson(value)) return value;
  return change(Object.fromEntries(Object.entries(value).map(([name, one]) => [name, changed(one, change)])));
};

/** The schema of what the service answers. Open: clients must bear fields that are added later. */
const opened = (value: unknown): unknown =>
  changed(value, (object) => {
    const { additionalProperties, ...open } = object;
    return additionalProperties === false ? open : object;
  });

/**
 * The property that distinguishes the branches of a union, with the branch of each value; undefined without a distinguishing
 * property.
 */
const discriminatorOf = (branches: readonly Json[], components: Record<string, Json>): Json | undefined => {
  const ids = branches.map(({ $ref }) => String($ref).split('/').at(-1) ?? '');
  const constsOf = (id: string): [string, unknown][] =>
    Object.entries((components[id]?.properties ?? {}) as Record<string, Json>)
      .filter(([, schema]) => 'const' in schema)
      .map(([name, schema]) => [name, schema.const]);
  for (const [propertyName] of constsOf(ids[0] ?? '')) {
    const entries = ids.map((id) => [new Map(constsOf(id)).get(propertyName), schemaRef(id).$ref] as const);
    const values = new Set(entries.map(([value]) => value));
    if (values.size === ids.length && !values.has(undefined)) {
      return { propertyName, mapping: Object.fromEntries(entries) };
    }
  }
  return undefined;
};

const withDiscriminators = (components: Record<string, Json>): unknown =>
  changed(components, (object) => {
    const { oneOf } = object;
    const discriminator =
      Array.isArray(oneOf) && oneOf.every((branch) => isJson(branch) && '$ref' in branch)
        ? discriminatorOf(oneOf, components)
        : undefined;
    return discriminator ? { ...object, discriminator } : object;
  });

/** Every named schema of the API's answers, by its id. Throws for a schema that JSON Schema cannot say. */
export const answerSchemas = (): Record<string, Json> => {
  const { schemas } = z.toJSONSchema(documentation, {
    metadata: documentation,
    uri: (id) => schemaRef(id).$ref as string,
  });
  const components = Object.fromEntries(
    Object.entries(schemas)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([id, schema]) => [id, opened(tidied(schema)) as Json]),
  );
  return withDiscriminators(components) as Record<string, Json>;
};

/** The schema of an answer that has no name. */
export const answerSchema = (schema: z.ZodMiniType): Json =>
  opened(tidied(z.toJSONSchema(schema, { metadata: documentation }))) as Json;

/** Annotations of each field beside its schema, by path: `sequentialOptions.maxImages`. */
export type FieldNotes = Record<string, Json & { description: string }>;

/**
 * The schema of a body with these fields. Rules that zod only has as code are in the notes. Throws unless there is a
 * note for every field and a field for every note.
 */
export const bodySchema = (
  fields: Record<string, z.ZodMiniType>,
  notes: FieldNotes,
  description: string,
): Json => {
  const open = new Set(Object.keys(notes));
  const noted = (schema: Json, path: string): Json => {
    const properties = schema.properties as Record<string, Json> | undefined;
    if (!properties) return schema;
    const inner = Object.entries(properties).map(([name, property]) => {
      const own = path === '' ? name : `${path}.${name}`;
      const note = notes[own];
      if (!note) throw new Error(`Nothing is noted about the field ${own}.`);
      open.delete(own);
      return [name, { ...noted(property, own), ...note }];
    });
    return { ...schema, properties: Object.fromEntries(inner) };
  };
  const generated = z.toJSONSchema(z.strictObject(fields), { io: 'input', unrepresentable: 'any' }) as Json;
  const schema = tidied({ ...noted(generated, ''), description }) as Json;
  if (open.size > 0) throw new Error(`There is no field ${[...open].join(', ')}.`);
  return schema;
};

/** The query parameters with these schemas. Throws as `bodySchema`. */
export const queryParameters = (query: Record<string, z.ZodMiniType>, notes: FieldNotes): Json[] =>
  Object.entries(query).map(([name, schema]) => {
    const note = notes[name];
    if (!note) throw new Error(`Nothing is noted about the query parameter ${name}.`);
    const { description, ...keywords } = note;
    const generated = z.toJSONSchema(schema, { unrepresentable: 'any' }) as Json;
    return { name, in: 'query', description, schema: tidied({ ...generated, ...keywords }) };
  });
