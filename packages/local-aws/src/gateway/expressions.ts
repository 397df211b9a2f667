import { TemplateError } from '../template/assembly.ts';

/** The values of `$context…`, nested like their names. */
export type ExpressionContext = Record<string, unknown>;

const CONTEXT_VARIABLE = /\$!?(?:\{context\.([\w.]+)\}|context\.(\w+(?:\.\w+)*))/g;
const LITERAL = /^'(.*)'$/s;
const CONTEXT_PATH = /^context\.([\w.]+)$/;

/** The value at a dotted name as text; empty when absent, as API Gateway renders it. */
const lookUp = (context: ExpressionContext, path: string): string => {
  let value: unknown = context;
  for (const name of path.split('.')) {
    value = typeof value === 'object' && value !== null ? (value as ExpressionContext)[name] : undefined;
  }
  return value === undefined || value === null ? '' : String(value);
};

/**
 * Throws `TemplateError` for a template that holds more of the Velocity language than static text and `$context` variables. Called at
 * start, before the template is rendered.
 */
export const checkTemplate = (template: string): void => {
  const rest = template.replaceAll(CONTEXT_VARIABLE, '');
  const unknown =
    /#(?:set|if|else|elseif|end|foreach|define|macro)\b|\$!?\{?(?:input|util|context|stageVariables|method)\b/.exec(
      rest,
    );
  if (unknown)
    throw new TemplateError(`The local run cannot render ${unknown[0]} in the template ${template}`);
};

/** The text of a template. */
export const renderTemplate = (template: string, context: ExpressionContext): string =>
  template.replaceAll(CONTEXT_VARIABLE, (_whole, braced?: string, plain?: string) =>
    lookUp(context, braced ?? plain ?? ''),
  );

/** Throws `TemplateError` for a header mapping other than `'literal'` and `context.…`. */
export const checkMapping = (expression: string): void => {
  if (!LITERAL.test(expression) && !CONTEXT_PATH.test(expression)) {
    throw new TemplateError(`The local run cannot map ${expression} to a header`);
  }
};

/** Evaluates header mappings. */
export const mapHeaders = (
  headers: Record<string, string>,
  context: ExpressionContext,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, expression]) => {
      const path = CONTEXT_PATH.exec(expression)?.[1];
      return [name, path === undefined ? expression.replace(LITERAL, '$1') : lookUp(context, path)] as const;
    }),
  );
