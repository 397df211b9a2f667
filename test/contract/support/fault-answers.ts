import { openApi } from './declared-answers.ts';

/** Every answer that the document declares, as `POST /v1/videos 202`. */
export const declaredAnswers = (): string[] =>
  Object.entries(openApi.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`),
    ),
  );

/** An error of ours. */
const UNEXPECTED = ' 500';

/** Declared answers that need a fault, a filter or a time-out at a provider. */
const OTHERS = [
  'POST /v1/generations 422',
  'POST /v1/videos 422',
  'POST /v1/generations 503',
  'POST /v1/videos 503',
  'POST /v1/quotes 409',
  'POST /v1/quotes 422',
  'POST /v1/quotes 503',
  'DELETE /v1/end-users/{email} 503',
  'PUT /v1/end-users/{email}/budget 503',
];

/**
 * The declared answers that test/unit/openapi/fault-answers.test.ts provokes through the handlers; all others are seen over HTTP by
 * test/long/answers-as-declared.test.ts.
 */
export const faultAnswers = (): string[] =>
  declaredAnswers().filter((answer) => answer.endsWith(UNEXPECTED) || OTHERS.includes(answer));
