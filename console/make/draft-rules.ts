import type { Model } from '../../packages/client/src/types.ts';
import { isOwnFile } from './file-rules.ts';
import { bodyOf, type FormValues, fieldsOf, messagesOf } from './form-rules.ts';

export type { FormValues } from './form-rules.ts';

/** What an address gives to a form. */
export interface Given {
  values: FormValues;
  /** Whether it is what an earlier request was given: its URLs lack their queries. */
  isReused: boolean;
}

/** Names in the address that are no fields. */
const NO_FIELDS = ['model', 'reused'];

/** What the query of an address gives; undefined where it names no more than the model. */
export const givenIn = (query: URLSearchParams): Given | undefined => {
  const fields = [...query].filter(([name, value]) => !NO_FIELDS.includes(name) && value !== '');
  return fields.length === 0
    ? undefined
    : { values: Object.fromEntries(fields), isReused: query.has('reused') };
};

/** The URLs among the values of a form that lead elsewhere: files of this service are named without a signature. */
export const urlsIn = (values: FormValues): string[] =>
  Object.values(values)
    .flatMap((value) => value.split('\n'))
    .filter((text) => /^https?:/.test(text) && !isOwnFile(text));

/** Fields that go along to whichever model is chosen: they say what is wanted, and for whom. */
const ALWAYS = ['prompt', 'endUserEmail', 'webhookUrl'];

/**
 * The values of a model's form after another model's was shown. Prompt, end-user and webhook are the shown ones. Other
 * fields come from the model's own draft, else from the shown form, as far as the model takes them.
 */
export const carriedValues = (shown: FormValues, model: Model, own: FormValues): FormValues => {
  const merged: Record<string, string> = { ...own };
  for (const { path, isTaken } of fieldsOf(model)) {
    const [first, second] = ALWAYS.includes(path) ? [shown[path], own[path]] : [own[path], shown[path]];
    const value = first || second;
    if (isTaken && value) merged[path] = value;
  }
  // Whatever the service calls, the form of this model is judged by its own bounds.
  for (const name of Object.keys(messagesOf(model, bodyOf(model, merged), true))) {
    const path = name.replace(/\[\d+\]$/, '');
    if (!ALWAYS.includes(path) && (own[path] ?? '') === '') delete merged[path];
  }
  return merged;
};
