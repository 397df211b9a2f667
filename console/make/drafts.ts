import { effect, signal } from '@preact/signals';
import type { Model } from '../../packages/client/src/types.ts';
import { DRAFTS } from '../state/session.ts';
import { carriedValues, type FormValues, type Given, urlsIn } from './draft-rules.ts';

/** What the forms hold, by model, and the model of the form that was shown last. */
interface Drafts {
  model?: string;
  values: Readonly<Record<string, FormValues>>;
  /** URLs of an earlier request, which records hold without what followed their `?`. */
  reused: readonly string[];
}

const EMPTY: Drafts = { values: {}, reused: [] };
const drafts = signal<Drafts>(JSON.parse(sessionStorage.getItem(DRAFTS) ?? JSON.stringify(EMPTY)));
effect(() => sessionStorage.setItem(DRAFTS, JSON.stringify(drafts.value)));

/** The model of the form that was shown last in this session. */
export const lastModel = (): string | undefined => drafts.value.model;

/** What the form of a model holds. Kept for the session, also while other pages or models are shown. */
export const draftOf = (model: string): FormValues => drafts.value.values[model] ?? {};

/** Whether a URL comes from an earlier request, and may lack its signature. */
export const isReused = (url: string): boolean => drafts.value.reused.includes(url);

/** Changes what the form of a model holds. Empty text is an empty field. */
export const setDraft = (model: string, values: FormValues): void => {
  const filled = Object.fromEntries(
    Object.entries(values).filter(([name, value]) => value !== '' && name !== 'model'),
  );
  if (JSON.stringify(filled) === JSON.stringify(draftOf(model))) return;
  drafts.value = { ...drafts.peek(), values: { ...drafts.peek().values, [model]: filled } };
};

/** Shows the form of a model from now on. What is `given` for it replaces what it held. */
export const openDraft = (model: string, given?: Given): void => {
  if (drafts.peek().model !== model) drafts.value = { ...drafts.peek(), model };
  if (given === undefined) return;
  setDraft(model, given.values);
  if (given.isReused) drafts.value = { ...drafts.peek(), reused: urlsIn(given.values) };
};

/** Shows the form of another model, filled with what it takes of the form that was shown. */
export const changeModel = (from: Model, to: Model): void =>
  openDraft(to.id, { values: carriedValues(draftOf(from.id), to, draftOf(to.id)), isReused: false });

/** Adds the URL of a file to a field of a model's form: to the end of a list, else in place of the one before. */
export const addFile = (model: string, path: string, url: string, isList: boolean): void => {
  const draft = draftOf(model);
  const before = isList ? (draft[path] ?? '').split('\n').filter(Boolean) : [];
  setDraft(model, { ...draft, [path]: [...before, url].join('\n') });
};
