import * as z from 'zod/mini';
import { allowPrivateTargets } from '../environment.ts';
import { type FieldErrors, ValidationError } from '../errors.ts';
import type { CatalogModel } from '../models/catalog.ts';
import { emailField, optionalText, text, urlProblem, webhookUrlProblem } from './validation.ts';

/** Longest prompt, in characters (code points) after trimming. */
export const MAX_PROMPT_CHARACTERS = 4000;

/** What every creation asks for, with every default applied. */
export interface NewCreation<Model extends CatalogModel = CatalogModel> {
  model: Model;
  prompt: string;
  endUserEmail: string;
  webhookUrl: string | undefined;
}

/** A body that has been read: complete, or what is wrong with it, field by field. */
export type ParsedCreation<New extends NewCreation> =
  | { ok: true; creation: New }
  | { ok: false; error: ValidationError; model: string | undefined; endUserEmail: string | undefined };

/** The same creation when something beside its body is wrong as well, or nothing is. */
export const alsoWrong = <New extends NewCreation>(
  parsed: ParsedCreation<New>,
  fields: FieldErrors,
): ParsedCreation<New> => {
  if (Object.keys(fields).length === 0) return parsed;
  const { model, endUserEmail, wrong } = parsed.ok
    ? { model: parsed.creation.model.id, endUserEmail: parsed.creation.endUserEmail, wrong: {} }
    : { ...parsed, wrong: parsed.error.fields };
  return { ok: false, error: new ValidationError({ ...wrong, ...fields }), model, endUserEmail };
};

const promptField = () =>
  z.pipe(
    z.pipe(
      text(),
      z.transform((prompt: string) => prompt.trim()),
    ),
    z.string().check(
      z.refine((prompt) => prompt.length > 0, { error: 'must not be empty' }),
      z.refine((prompt) => [...prompt].length <= MAX_PROMPT_CHARACTERS, {
        error: `must be at most ${MAX_PROMPT_CHARACTERS} characters`,
      }),
      z.refine((prompt) => prompt.isWellFormed(), { error: 'must be well-formed Unicode' }),
    ),
  );

/** The fields of every creation. */
export const COMMON_FIELDS = {
  model: text(),
  prompt: promptField(),
  endUserEmail: emailField(),
  webhookUrl: optionalText(),
};

/** A list of URLs that may be left out. */
export const optionalUrls = () =>
  z.optional(z.array(z.string({ error: 'must be a string' }), { error: 'must be an array of URLs' }));

/**
 * Looks at the URLs of a body as they were given, those in lists one by one: one that is no text must not hide
 * what is wrong with the others. `webhookUrl` is among them.
 */
export const checkUrls = (
  body: Record<string, unknown>,
  names: readonly string[],
  fields: FieldErrors,
): void => {
  const allowPrivate = allowPrivateTargets();
  const check = (field: string, value: unknown, problemOf: typeof urlProblem): void => {
    const problem = typeof value === 'string' ? problemOf(value, allowPrivate) : undefined;
    if (problem) fields[field] ??= problem;
  };
  for (const name of names) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (!Array.isArray(value)) check(name, value, urlProblem);
    else for (const [index, one] of value.entries()) check(`${name}[${index}]`, one, urlProblem);
  }
  check('webhookUrl', Object.hasOwn(body, 'webhookUrl') ? body.webhookUrl : undefined, webhookUrlProblem);
};
