import assert from 'node:assert/strict';
import type { ANSWER_VALIDATORS, Json } from './answer-validators.ts';
import type { Answer } from './answers.ts';

const { answerValidators } = globalThis as { answerValidators?: typeof ANSWER_VALIDATORS };
if (!answerValidators)
  throw new Error('Answers are checked in the environment of test/answers-environment.ts.');
const { validatorOf } = answerValidators;
/** The committed document. */
export const { openApi } = answerValidators;

/** Headers with a meaning for callers: an answer may have only declared headers. */
const TELLING = ['location', 'retry-after', 'idempotency-replayed', 'allow'];

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
const resolved = (part: Json): [Json, string | undefined] => {
  const $ref = part.$ref as string | undefined;
  if ($ref === undefined) return [part, undefined];
  const pointer = $ref.slice(1);
  const found = pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((inner, name) => (inner as Json)[name], openApi);
  return [found as Json, pointer];
};

/** The document's paths, one without parameters before one with: as the gateway chooses, whatever the method. */
const PATHS = Object.keys(openApi.paths)
  .sort((one, other) => Number(one.includes('{')) - Number(other.includes('{')))
  .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }));

let checked = 0;
/** How many answers were held to the document in this process. */
export const answersChecked = (): number => checked;

const seen = new Set<string>();
/** The answers that were held to it, as `POST /v1/videos 202`. */
export const answersSeen = (): ReadonlySet<string> => seen;

/**
 * Throws unless the document declares an answer: its status, every field, the code of an error, and the headers that
 * callers go by. Does nothing for a call that is none of the document's operations.
 */
export const checkDeclared = (method: string, pathAndQuery: string, answer: Answer<unknown>): void => {
  const [path = ''] = pathAndQuery.split('?', 1);
  const route = PATHS.find(({ pattern }) => pattern.test(path))?.path ?? '';
  const verb = method.toLowerCase();
  const operation = openApi.paths[route]?.[verb];
  if (!operation) return;
  const said = `${method} ${route} answered ${answer.status}`;
  const response = operation.responses[answer.status];
  assert.ok(response, `${said}, which docs/openapi.json does not declare`);
  const [{ headers }, pointer] = resolved(response);

  const at = pointer ?? `/paths/${escaped(route)}/${verb}/responses/${answer.status}`;
  const validate = validatorOf(`${at}/content/application~1json/schema`);
  assert.ok(
    validate(answer.body),
    `${said} with a body that docs/openapi.json does not declare: ${JSON.stringify(validate.errors)} ${JSON.stringify(answer.body)}`,
  );

  const declared = Object.entries(headers as Record<string, Json>).map(
    ([name, header]) => [name.toLowerCase(), resolved(header)] as const,
  );
  for (const [name, [header, headerPointer]] of declared) {
    const value = answer.headers.get(name);
    if (value === null) assert.ok(!header.required, `${said} without ${name}`);
    else assert.ok(validatorOf(`${headerPointer}/schema`)(value), `${said} with ${name}: ${value}`);
  }
  const names = declared.map(([name]) => name);
  for (const name of TELLING) {
    assert.ok(
      names.includes(name) || !answer.headers.has(name),
      `${said} with ${name}, which is not declared`,
    );
  }
  checked += 1;
  seen.add(`${method} ${route} ${answer.status}`);
};
