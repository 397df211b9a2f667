import type { Json } from './json-schema.ts';

const HEAD = '/* Made by npm run openapi from docs/openapi.json: the bodies and answers of the API. */\n';

/** A doc comment at this indentation. */
const comment = (description: unknown, indent = ''): string =>
  typeof description === 'string' ? `${indent}/** ${description.replaceAll('*/', '* /')} */\n` : '';

const nameOf = ($ref: unknown): string => String($ref).split('/').at(-1) ?? '';

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');

/** The type of a schema. Throws for a schema that it does not know how to write. */
const typeOf = (schema: Json, indent = ''): string => {
  const { $ref, type, items, properties, additionalProperties } = schema;
  if ($ref !== undefined) return nameOf($ref);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map((value) => JSON.stringify(value)));
  for (const keyword of ['oneOf', 'anyOf']) {
    const branches = schema[keyword];
    if (Array.isArray(branches)) return union(branches.map((branch) => branchOf(branch, branches, indent)));
  }
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one }, indent)));
  if (type === 'array') return `readonly ${inParentheses(typeOf(items as Json, indent))}[]`;
  if (type === 'object' && properties !== undefined) return objectOf(schema, indent);
  if (type === 'object') return `Readonly<Record<string, ${typeOf(additionalProperties as Json, indent)}>>`;
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'string' || type === 'boolean' || type === 'null') return type;
  throw new Error(`No type is known for ${JSON.stringify(schema)}.`);
};

/**
 * A branch of a union. A type for any text, with the named texts kept for completion by editors: a union with plain `string`
 * would drop the named texts.
 */
const branchOf = (branch: Json, branches: readonly Json[], indent: string): string =>
  branch.type === 'string' && !branch.enum && branches.some((other) => other.enum)
    ? '(string & {})'
    : typeOf(branch, indent);

const inParentheses = (type: string): string => (/^[\w"]+$/.test(type) ? type : `(${type})`);

const objectOf = ({ properties, required }: Json, indent: string): string => {
  const names = new Set(required as string[] | undefined);
  const inner = `${indent}  `;
  const fields = Object.entries(properties as Record<string, Json>).map(([name, schema]) => {
    const type = typeOf(schema, inner);
    const field = names.has(name) ? `${name}: ${type}` : `${name}?: ${type} | undefined`;
    return `${comment(schema.description, inner)}${inner}readonly ${field};\n`;
  });
  return `{\n${fields.join('')}${indent}}`;
};

const declaration = ([name, schema]: [string, Json]): string => {
  const head = comment(schema.description);
  return schema.type === 'object'
    ? `${head}export interface ${name} ${typeOf(schema)}\n`
    : `${head}export type ${name} = ${typeOf(schema)};\n`;
};

interface Document {
  components: { schemas: Record<string, Json> };
  webhooks: Record<
    string,
    { post: { requestBody: { content: Record<'application/json', { schema: Json }> } } }
  >;
}

/** The text of a TypeScript module with a type for each schema of the document, and one for all webhooks. */
export const typesText = (document: Json): string => {
  const { components, webhooks } = document as unknown as Document;
  const events = Object.values(webhooks).map(({ post }) =>
    typeOf(post.requestBody.content['application/json'].schema),
  );
  return [
    HEAD,
    ...Object.entries(components.schemas).map(declaration),
    `/** The body of a webhook. */\nexport type WebhookEvent = ${union(events)};\n`,
  ].join('\n');
};
