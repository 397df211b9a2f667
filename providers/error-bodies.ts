import { parseJson } from './http.ts';

/** An error in a body: the code, the message for operators, and the provider's name of the field. */
export interface ToldError {
  code: string;
  message?: string | undefined;
  at?: string | undefined;
}

type Body = Readonly<Record<string, unknown>>;

const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null;

/** Text that says something; a number as text. */
const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** Codes by which some gateways report a success. */
const SUCCESS = new Set(['0', '200', 'success', 'Success', 'ok', 'OK']);

/** Greatest depth to which gateways nest errors. */
const MAX_DEPTH = 4;

/**
 * The error in a body, in every form of makers and gateways: flat, under `error` or `ResponseMetadata`, or as JSON in a text. The
 * innermost error is the maker's own. Undefined when the body has no code.
 */
export const errorIn = (body: unknown, depth = 0): ToldError | undefined => {
  if (depth > MAX_DEPTH) return undefined;
  if (typeof body === 'string') {
    const json = /\{.*\}/s.exec(body)?.[0];
    return json === undefined ? undefined : errorIn(parseJson(json), depth + 1);
  }
  if (!isBody(body)) return undefined;
  const message = textOf(body.message ?? body.Message ?? body.msg);
  const inner = [body.error, body.ResponseMetadata, body.Error, message]
    .map((part) => errorIn(part, depth + 1))
    .find((found) => found !== undefined);
  if (inner) return inner;
  const code = textOf(body.code ?? body.Code) ?? textOf(body.type);
  if (code === undefined || SUCCESS.has(code)) return undefined;
  return { code, message, at: textOf(body.param) };
};

/** A code within a message: `<400> InternalError.Algo.DataInspectionFailed: …`, or any word in the form of one. */
const CODE_IN_TEXT = /\b[A-Z][a-z]+(?:[A-Z][A-Za-z]+|\.[A-Z][A-Za-z]+)+\b/g;

/** The code of an error, and the codes within its message. */
export const codesOf = ({ code, message = '' }: ToldError): string[] => [
  code,
  ...(message.match(CODE_IN_TEXT) ?? []),
];
