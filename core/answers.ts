import * as z from 'zod/mini';

/**
 * Annotations of a schema in the OpenAPI document that zod cannot express. A schema with an `id` becomes a
 * component.
 */
export interface Documentation {
  id?: string;
  description?: string;
  format?: string;
}

/**
 * Schemas of the API's answers and webhooks. The OpenAPI document is made from them, and the types of the code that
 * answers are theirs. Functions import only the types: nothing of this is in a bundle.
 */
export const documentation = z.registry<Documentation>();

/** The schema, with its description in the document. */
export const described = <Schema extends z.core.$ZodType>(schema: Schema, description: string): Schema => {
  documentation.add(schema, { description });
  return schema;
};

/** The schema, as a component of the document. */
export const named = <Schema extends z.core.$ZodType>(
  id: string,
  description: string,
  schema: Schema,
): Schema => {
  documentation.add(schema, { id, description });
  return schema;
};

/** An `Instant`. */
export const instant = (description: string) => {
  const schema = z.string();
  documentation.add(schema, { description, format: 'date-time' });
  return schema;
};

/** A count of things. */
export const count = (description: string) => described(z.int().check(z.gte(0)), description);

/** An amount of xTokens. */
export const xTokens = (description: string) => described(z.number().check(z.gte(0)), description);
