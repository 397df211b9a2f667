import type { Failure, InputFault, InputReason, Medium } from '../errors.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { type InputFile, inputFilesOf } from '../requests/input-files.ts';
import type { StoredRequest } from '../requests/request-rules.ts';

/** The reasons in words, each after the name of the input. */
const PROBLEMS: Record<Exclude<InputReason, 'content'>, string> = {
  unfetched: 'could not be fetched by the provider',
  slow: 'could not be fetched by the provider in time',
  unreadable: 'could not be read by the provider',
  small: 'is smaller than the model takes',
  large: 'is larger than the model takes',
  size: 'has a size that the model does not take',
  format: 'has a format that the model does not take',
  duration: 'has a duration that the model does not take',
  ratio: 'has an aspect ratio that the model does not take',
  rate: 'has a frame rate that the model does not take',
  value: 'was not accepted by the provider',
};

const A_MEDIUM: Record<Medium, string> = { image: 'an image', video: 'a video', audio: 'an audio' };

/** Reasons that may be of any input. All others are of a file. */
const OF_ANY_INPUT = new Set<InputReason>(['value', 'content']);

/**
 * The failure to record for a request whose input a provider refused: its message names the input and the reason, in our words.
 * Any other failure is returned unchanged. The input is named by the adapter, or by a URL in the provider's error, or is the only
 * possible input.
 */
export const nameInput = (
  failure: Failure,
  request: StoredRequest,
  attempts: readonly Pick<ProviderAttempt, 'outcome'>[],
): Failure => {
  const { code, input } = failure;
  if (!input) return failure;
  const { reason, status, medium } = input;
  const files = inputFilesOf(request);
  const field = fieldOf(input, files, saidBy(attempts));
  const fault = { reason, ...(status !== undefined && { status }), ...(field !== undefined && { field }) };
  const name = field ?? nameOfAny(files, medium);
  const object = field === 'prompt' ? 'the prompt' : name;
  if (reason === 'content') {
    return { code, message: `The content filter of the provider refused ${object}.`, input: fault };
  }
  const problem = `${capitalized(name, field)} ${PROBLEMS[reason]}`;
  const answered = status === undefined ? '' : `: its server answered ${status}`;
  return { code, message: `${problem}${answered}.`, input: fault };
};

/** All that providers said about refused inputs. It is for operators, and is only searched. */
const saidBy = (attempts: readonly Pick<ProviderAttempt, 'outcome'>[]): string =>
  attempts
    .map(({ outcome }) =>
      outcome?.kind === 'failed' && outcome.failure.input ? outcome.upstream?.message : '',
    )
    .join('\n');

const fieldOf = (
  { reason, field, file, medium }: InputFault,
  files: readonly InputFile[],
  said: string,
): string | undefined => {
  if (field !== undefined) return field;
  const named = file === undefined ? undefined : files[file];
  if (named) return named.field;
  const quoted = quotedIn(said, files);
  if (quoted) return quoted.field;
  const possible = files.filter((one) => medium === undefined || one.medium === medium);
  // Without files there is nothing else to judge.
  if (files.length === 0 && reason !== 'value') return 'prompt';
  const isOfFile = medium !== undefined || !OF_ANY_INPUT.has(reason);
  return isOfFile && possible.length === 1 ? possible[0]?.field : undefined;
};

/** The file whose URL a text quotes, with or without its query. One URL may begin with another: the longest counts. */
const quotedIn = (said: string, files: readonly InputFile[]): InputFile | undefined =>
  files
    .filter(({ url }) => said.includes(withoutQuery(url)))
    .toSorted((one, other) => withoutQuery(other.url).length - withoutQuery(one.url).length)[0];

const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '');

/** The name of an input of which no more is known than its medium. */
const nameOfAny = (files: readonly InputFile[], medium: Medium | undefined): string => {
  const possible = files.filter((one) => medium === undefined || one.medium === medium);
  const lists = new Set(possible.map(({ field }) => field.replace(/\[.*/, '')));
  if (medium !== undefined && lists.size === 1) return `one of ${[...lists].join()}`;
  return `${medium === undefined ? 'an input' : A_MEDIUM[medium]} of the request`;
};

/** The name at the beginning of a sentence: a field keeps its spelling. */
const capitalized = (name: string, field: string | undefined): string =>
  field === undefined ? name.charAt(0).toUpperCase() + name.slice(1) : name;
