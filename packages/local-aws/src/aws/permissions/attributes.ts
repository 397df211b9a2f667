type Json = Record<string, unknown>;

const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

/** Expressions whose names count, those of conditions and filters included. */
const EXPRESSIONS = [
  'ConditionExpression',
  'FilterExpression',
  'KeyConditionExpression',
  'ProjectionExpression',
  'UpdateExpression',
];
/** Parameters of earlier versions of the API that are maps by attribute. */
const MAPS = ['AttributeUpdates', 'Expected', 'KeyConditions', 'QueryFilter', 'ScanFilter'];

/** The first part of each path, not what follows a dot, and no placeholder of a value. A function comes with its parenthesis. */
const NAME = /(?<![\w.:#])#?[A-Za-z_]\w*(?:\s*\()?/g;
/** DynamoDB reserves these: an attribute of such a name needs a placeholder. */
const KEYWORDS = new Set(['SET', 'REMOVE', 'ADD', 'DELETE', 'AND', 'OR', 'NOT', 'BETWEEN', 'IN']);

const namesIn = (expression: unknown, placeholders: Json): string[] =>
  (typeof expression === 'string' ? (expression.match(NAME) ?? []) : [])
    // `IN (` is no function.
    .filter((token) => !token.endsWith('(') && !KEYWORDS.has(token.toUpperCase()))
    .map((token) => (token.startsWith('#') ? String(placeholders[token] ?? token) : token));

/**
 * The top-level attributes that a call names, as in IAM's `dynamodb:Attributes`: in its keys, its items and every
 * expression. Attributes that are only returned do not count: a call without a projection returns every attribute and
 * names no returned attribute
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html).
 */
export const attributesOf = (request: Json, items: unknown[] = []): string[] => {
  const placeholders = asObject(request.ExpressionAttributeNames);
  const listed = Array.isArray(request.AttributesToGet) ? request.AttributesToGet.map(String) : [];
  return [
    ...new Set([
      ...items.flatMap((item) => Object.keys(asObject(item))),
      ...EXPRESSIONS.flatMap((name) => namesIn(request[name], placeholders)),
      ...MAPS.flatMap((name) => Object.keys(asObject(request[name]))),
      ...listed,
    ]),
  ];
};
