import * as z from 'zod/mini';
import { isEmail, normalizeEmail } from '../../core/end-users/email-rules.ts';
import type { FieldErrors } from '../../core/errors.ts';
import { optionalText, parseFields } from '../../core/fields.ts';
import { routesOf } from '../../core/provider-calls/model-routes.ts';
import { PROVIDERS } from '../../core/provider-names.ts';

const oneOf = (...values: [string, ...string[]]) =>
  z.optional(z.enum(values, { error: `must be ${values.join(' or ')}: nothing else is offered` }));
const notOffered = () => z.optional(z.never({ error: 'is not offered' }));

/** Parameters that are handed on to the rules of a creation as they are. */
const OF_CREATION = ['model', 'prompt', 'n', 'size', 'webhookUrl'];

/** The parameters that a creation does not have. */
const OWN = {
  user: optionalText(),
  response_format: z.optional(z.enum(['b64_json', 'url'], { error: 'must be b64_json or url' })),
  quality: oneOf('auto', 'standard'),
  background: oneOf('auto', 'opaque'),
  moderation: oneOf('auto'),
  output_format: optionalText(),
  stream: z.optional(z.literal(false, { error: 'is not offered' })),
  partial_images: z.optional(z.literal(0, { error: 'is not offered' })),
  output_compression: notOffered(),
  input_fidelity: notOffered(),
  style: notOffered(),
  mask: notOffered(),
};

/** The parameters of a call, in the words of a creation. */
export interface ImageParameters {
  /** The body of a creation, without its references. */
  body: Record<string, unknown>;
  /** Whether the answer has URLs in place of the images themselves. */
  wantsUrls: boolean;
  /** Errors of the other parameters. */
  fields: FieldErrors;
}

/**
 * Reads the parameters of a call. One that is null counts as absent. The end-user is `user` if that is an email address, else
 * `defaultEndUser`.
 */
export const readParameters = (
  given: Record<string, unknown>,
  defaultEndUser: string | undefined,
): ImageParameters => {
  const entries = Object.entries(given).filter(([, value]) => value !== null);
  const isOfCreation = ([name]: [string, unknown]) => OF_CREATION.includes(name);
  const body = Object.fromEntries(
    entries.filter(isOfCreation).filter(([name, value]) => name !== 'size' || value !== 'auto'),
  );
  const own = Object.fromEntries(entries.filter((entry) => !isOfCreation(entry)));
  const { values, fields } = parseFields(OWN, own);
  const problem = formatProblem(body.model, values.output_format);
  if (problem) fields.output_format ??= problem;
  const email = normalizeEmail(values.user ?? '');
  const endUserEmail = isEmail(email) ? email : defaultEndUser;
  return {
    body: { ...body, ...(endUserEmail !== undefined && { endUserEmail }) },
    wantsUrls: values.response_format === 'url',
    fields,
  };
};

const formatProblem = (model: unknown, format: string | undefined): string | undefined => {
  const routes = typeof model === 'string' ? routesOf(model) : [];
  const formats = new Set(routes.map(({ provider }) => PROVIDERS[provider].imageFormat));
  // Where routes make different ones, it is not known before the image is made.
  const made = formats.size === 1 ? [...formats][0] : undefined;
  if (format === undefined || format === made) return undefined;
  return made === undefined ? 'must be what the model makes' : `must be ${made}: the model makes no other`;
};
