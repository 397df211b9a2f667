import * as z from 'zod/mini';
import { emailField } from '../end-users/email-rules.ts';
import type { FieldErrors, ValidationError } from '../errors.ts';
import { optionalText, shortList, text, type Values } from '../fields.ts';
import { hostProblem, isBadPort, isThisMachine } from '../guarded-http/target-rules.ts';
import { CATALOG, type CatalogModel } from '../models/catalog.ts';
import { givenParameters } from '../models/model-parameters.ts';

/** Longest prompt, in characters (code points) after trimming. */
export const MAX_PROMPT_CHARACTERS = 4000;

/** Fields of every creation, with every default applied. */
export interface NewCreation<Model extends CatalogModel = CatalogModel> {
  model: Model;
  prompt: string;
  endUserEmail: string;
  webhookUrl?: string | undefined;
}

/** The values that are given: an optional field that is absent is parsed as undefined. */
export const givenOf = <Values extends object>(values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Values;

/** A parsed body: a complete creation, or the problems by field, with the model and end-user if named. */
export type ParsedCreation<New extends NewCreation> =
  | { ok: true; creation: New }
  | { ok: false; error: ValidationError; model: New['model'] | undefined; endUserEmail: string | undefined };

/** A character that is seen: no space, control, format or default-ignorable one, no noncharacter, no blank of Braille, music or Khitan. */
const VISIBLE =
  /[^\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{1d159}\u{16fe4}]/u;

const promptField = () =>
  z.pipe(
    z.pipe(
      text(),
      z.transform((prompt: string) => prompt.trim()),
    ),
    z.string().check(
      z.refine((prompt) => VISIBLE.test(prompt), { error: 'must not be empty' }),
      z.refine((prompt) => [...prompt].length <= MAX_PROMPT_CHARACTERS, {
        error: `must be at most ${MAX_PROMPT_CHARACTERS} characters`,
      }),
      z.refine((prompt) => prompt.isWellFormed(), { error: 'must be well-formed Unicode' }),
    ),
  );

const optionalFlag = () => z.optional(z.boolean({ error: 'must be true or false' }));

/** The fields of parameters. `checkParameters` checks them against a model. */
export const PARAMETER_FIELDS = {
  seed: z.optional(z.int({ error: 'must be a whole number' })),
  negativePrompt: z.optional(promptField()),
  generateAudio: optionalFlag(),
  promptExtend: optionalFlag(),
};

/** Adds to `fields` the parameters that the model does not take, and values out of their ranges. */
export const checkParameters = (
  { id, parameters = [] }: Pick<CatalogModel, 'id' | 'parameters'>,
  values: Partial<Values<typeof PARAMETER_FIELDS>>,
  fields: FieldErrors,
): void => {
  for (const name of givenParameters(values)) {
    const taken = parameters.find((one) => one.name === name);
    const { seed, negativePrompt = '' } = values;
    const { min = 0, max = min, maxCharacters = 0 } = taken ?? {};
    if (!taken) fields[name] ??= `${id} takes none`;
    else if (name === 'seed' && seed !== undefined && (seed < min || seed > max))
      fields.seed ??= `must be from ${min} to ${max}`;
    else if (name === 'negativePrompt' && [...negativePrompt].length > maxCharacters)
      fields.negativePrompt ??= `must be at most ${maxCharacters} characters`;
  }
};

/** The fields of every creation. */
export const COMMON_FIELDS = {
  model: text(),
  prompt: promptField(),
  endUserEmail: emailField(),
  webhookUrl: optionalText(),
};

/** The longest list of URLs that any model takes. */
const MAX_URLS = Math.max(
  ...CATALOG.flatMap((model) =>
    model.type === 'image'
      ? [model.maxReferences]
      : [model.maxReferenceImages ?? 0, model.maxReferenceVideos ?? 0, model.maxReferenceAudios ?? 0],
  ),
);

/** The refusal of a list of more URLs than this. */
export const tooManyUrls = (most: number): string => `must hold at most ${most} URLs`;

/** An optional list of URLs; `checkUrls` checks the URLs themselves. */
export const optionalUrls = () =>
  z.optional(
    shortList(
      z.string({ error: 'must be a string' }),
      MAX_URLS,
      tooManyUrls(MAX_URLS),
      'must be an array of URLs',
    ),
  );

/**
 * Adds to `fields` what is wrong with the URLs in these fields of the body and in `webhookUrl`. Checks every list entry of the
 * raw body separately, so that an entry of a wrong type hides no other problem. Skips a list that is too long for every model.
 */
export const checkUrls = (
  body: Record<string, unknown>,
  names: readonly string[],
  allowPrivate: boolean,
  fields: FieldErrors,
): void => {
  const check = (field: string, value: unknown, problemOf: typeof urlProblem): void => {
    const problem = typeof value === 'string' ? problemOf(value, allowPrivate) : undefined;
    if (problem) fields[field] ??= problem;
  };
  for (const name of names) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (!Array.isArray(value)) check(name, value, urlProblem);
    else if (value.length <= MAX_URLS)
      for (const [index, one] of value.entries()) check(`${name}[${index}]`, one, urlProblem);
  }
  check('webhookUrl', Object.hasOwn(body, 'webhookUrl') ? body.webhookUrl : undefined, webhookUrlProblem);
};

const MAX_URL_LENGTH = 2048;
/** Control characters, which URL parsers drop silently, and unpaired surrogates, which cannot be stored. */
const NOT_IN_URLS = /[\p{Cc}\p{Cs}]/u;

/** Why a caller's URL is refused, or undefined when it can be used. */
export const urlProblem = (url: string, allowLoopbackHttp: boolean): string | undefined => {
  if (url.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters`;
  if (!URL.canParse(url) || url.trim() !== url || NOT_IN_URLS.test(url))
    return 'must be an absolute https URL';
  const target = new URL(url);
  const { protocol, username, password, hostname } = target;
  if (username !== '' || password !== '') return 'must not carry user information';
  const loopback = allowLoopbackHttp && protocol === 'http:' && isThisMachine(hostname);
  if (protocol !== 'https:' && !loopback) return 'must be an absolute https URL';
  return isBadPort(target) ? 'must not use the port of another protocol' : undefined;
};

/** Like `urlProblem`, for a webhook: also refuses a host that the service would never connect to. */
export const webhookUrlProblem = (url: string, allowPrivate: boolean): string | undefined =>
  urlProblem(url, allowPrivate) ?? hostProblem(new URL(url).hostname, allowPrivate);
