import * as z from 'zod/mini';
import { isEmail, normalizeEmail } from '../../core/end-users/email-rules.ts';
import type { FieldErrors } from '../../core/errors.ts';
import { optionalText, parseFields } from '../../core/fields.ts';
import { findImageModel } from '../../core/models/catalog.ts';
import { parseExplicitSize, sizeProblem } from '../../core/models/image-sizes.ts';
import { routesOf } from '../../core/provider-calls/model-routes.ts';
import { limitsOf, pixelsProblem } from '../../core/provider-calls/upstream-limits.ts';
import { makerOf, PROVIDERS } from '../../core/provider-names.ts';
import { unknownModelProblem } from './errors.ts';
import type { NamedModels } from './models.ts';

const oneOf = (...values: [string, ...string[]]) =>
  z.optional(z.enum(values, { error: `must be ${values.join(' or ')}: nothing else is offered` }));
const notOffered = () => z.optional(z.never({ error: 'is not offered' }));

/** Parameters that are handed on to the rules of a creation as they are. */
const OF_CREATION = ['model', 'prompt', 'n', 'size', 'webhookUrl'];

/** Hints on how well or in which manner to make an image: taken with any text, without effect. */
const HINTS = { quality: optionalText(), style: optionalText() };

/** The parameters that a creation does not have. */
const OWN = {
  ...HINTS,
  user: optionalText(),
  response_format: z.optional(z.enum(['b64_json', 'url'], { error: 'must be b64_json or url' })),
  background: oneOf('auto', 'opaque'),
  moderation: oneOf('auto'),
  output_format: optionalText(),
  stream: z.optional(z.boolean({ error: 'must be true or false' })),
  partial_images: z.optional(z.literal(0, { error: 'is not offered' })),
  output_compression: notOffered(),
  input_fidelity: notOffered(),
  mask: notOffered(),
};

/** The parameters of a call, in the words of a creation. */
export interface ImageParameters {
  /** The body of a creation, without its references. */
  body: Record<string, unknown>;
  /** The form of each image in the answer; undefined: URL and base64. */
  responseFormat: 'b64_json' | 'url' | undefined;
  /** Whether the answer is a stream of events. */
  isStreamed: boolean;
  /** The parameters that were taken without effect. */
  ignored: string[];
  /** The headers that tell of the announced end of the model. */
  endOfModel: Record<string, string>;
  /** Errors of the other parameters. */
  fields: FieldErrors;
}

/**
 * Reads the parameters of a call. A parameter that is null counts as absent. A model has its id or an alias. The end-user is `user` if that
 * is an email address, else `defaultEndUser`.
 */
export const readParameters = (
  given: Record<string, unknown>,
  { defaultEndUser, models }: { defaultEndUser: string | undefined; models: NamedModels },
): ImageParameters => {
  const entries = Object.entries(given).filter(([, value]) => value !== null);
  const isOfCreation = ([name]: [string, unknown]) => OF_CREATION.includes(name);
  const body = Object.fromEntries(
    entries.filter(isOfCreation).filter(([name, value]) => name !== 'size' || value !== 'auto'),
  );
  const own = Object.fromEntries(entries.filter((entry) => !isOfCreation(entry)));
  const { values, fields } = parseFields(OWN, own);
  if (typeof body.model === 'string') {
    const id = models.modelIdOf(body.model);
    if (id === undefined) fields.model = unknownModelProblem(body.model, models.onOffer);
    else body.model = id;
  }
  const problem = formatProblem(body.model, values.output_format);
  if (problem) fields.output_format ??= problem;
  const unmade = unmadeSizeProblem(body.model, body.size);
  if (unmade) fields.size = unmade;
  const email = normalizeEmail(values.user ?? '');
  const endUserEmail = isEmail(email) ? email : defaultEndUser;
  return {
    body: { ...body, ...(endUserEmail !== undefined && { endUserEmail }) },
    responseFormat: values.response_format,
    isStreamed: values.stream ?? false,
    endOfModel: models.endOf(body.model),
    ignored: Object.keys(HINTS).filter((name) => Object.hasOwn(own, name)),
    fields,
  };
};

const formatProblem = (model: unknown, format: string | undefined): string | undefined => {
  const routes = typeof model === 'string' ? routesOf(model) : [];
  const formats = new Set(routes.map(({ provider }) => PROVIDERS[makerOf(provider)].imageFormat));
  // Where routes make different ones, it is not known before the image is made.
  const made = formats.size === 1 ? [...formats][0] : undefined;
  if (format === undefined || format === made) return undefined;
  return made === undefined ? 'must be what the model makes' : `must be ${made}: the model makes no other`;
};

/** Why no route of a model makes a size that the catalog allows: the clients would repeat a call that its provider refuses. */
const unmadeSizeProblem = (id: unknown, size: unknown): string | undefined => {
  const model = typeof id === 'string' ? findImageModel(id) : undefined;
  const dimensions = typeof size === 'string' ? parseExplicitSize(size) : undefined;
  if (!model || !dimensions || typeof size !== 'string' || sizeProblem(model, size)) return undefined;
  const problems = routesOf(model.id).map((route) => pixelsProblem(limitsOf(route), model, dimensions));
  return problems.every((problem) => problem !== undefined) ? problems[0] : undefined;
};
