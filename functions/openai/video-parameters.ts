import * as z from 'zod/mini';
import { isEmail, normalizeEmail } from '../../core/end-users/email-rules.ts';
import type { FieldErrors } from '../../core/errors.ts';
import { optionalText, parseFields } from '../../core/fields.ts';
import { findVideoModel } from '../../core/models/catalog.ts';
import { videoShapeOf } from '../../core/models/video-shapes.ts';
import { unknownModelProblem } from './errors.ts';
import type { NamedModels } from './models.ts';

/** Parameters that are handed on to the rules of a creation as they are. */
const OF_CREATION = ['model', 'prompt', 'webhookUrl'];

const NOT_SECONDS = 'must be a whole number of seconds';

/** The parameters that a creation does not have. */
const OWN = {
  user: optionalText(),
  size: optionalText(),
  seconds: z.optional(
    z
      .union([z.string(), z.number()], { error: NOT_SECONDS })
      .check(z.refine((value) => /^\d{1,4}$/.test(`${value}`), { error: NOT_SECONDS })),
  ),
};

/** The parameters of a call in the words of a creation, without its first frame, and what is wrong with them. */
export interface VideoParameters {
  body: Record<string, unknown>;
  fields: FieldErrors;
}

/**
 * Reads the parameters of a creation in OpenAI's shape. A parameter that is null counts as absent. A model has its id or an alias. The
 * end-user is `user` if that is an email address, else `defaultEndUser`.
 */
export const readVideoParameters = (
  given: Record<string, unknown>,
  { defaultEndUser, models }: { defaultEndUser: string | undefined; models: NamedModels },
): VideoParameters => {
  const entries = Object.entries(given).filter(([, value]) => value !== null);
  const isOfCreation = ([name]: [string, unknown]) => OF_CREATION.includes(name);
  const body = Object.fromEntries(entries.filter(isOfCreation));
  const { values, fields } = parseFields(
    OWN,
    Object.fromEntries(entries.filter((entry) => !isOfCreation(entry))),
  );
  if (typeof body.model === 'string') {
    const id = models.modelIdOf(body.model);
    if (id === undefined) fields.model = unknownModelProblem(body.model, models.onOffer);
    else body.model = id;
  }
  const model = findVideoModel(String(body.model));
  const shape = model && values.size !== undefined ? videoShapeOf(model, values.size) : undefined;
  if (shape && 'problem' in shape) fields.size = shape.problem;
  const email = normalizeEmail(values.user ?? '');
  const endUserEmail = isEmail(email) ? email : defaultEndUser;
  return {
    body: {
      ...body,
      ...(shape && !('problem' in shape) && shape),
      ...(values.seconds !== undefined && { durationSec: Number(values.seconds) }),
      ...(endUserEmail !== undefined && { endUserEmail }),
    },
    fields,
  };
};
