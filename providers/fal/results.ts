import * as z from 'zod/mini';
import type { ProviderAnswer, ProviderOutput } from '../../core/provider-calls/providers.ts';
import type { ToldError } from '../error-bodies.ts';
import {
  failedTask,
  failureOf,
  failureOfAll,
  REFUSED_OUTPUT,
  saysLater,
  unreadTask,
  untoldTask,
} from '../failures.ts';
import {
  type Answered,
  type HttpAnswer,
  numberOf,
  optionalNumber,
  readBody,
  reportedSeed,
  requiredText,
  saidText,
  urlOf,
} from '../http.ts';
import { FAL_ERRORS, pathOf } from './errors.ts';

const Location = z.catch(z.array(z.union([z.string(), z.number()])), []);
const ModelErrors = z.object({
  detail: z.array(z.object({ type: requiredText(), msg: saidText(), loc: Location })),
});
const PlatformError = z.object({ error_type: requiredText(), detail: saidText(), error: saidText() });
const PlainError = z.object({ detail: requiredText() });

/** An error as a body of fal tells it. */
export interface FalError extends ToldError {
  /** Whether the error has a code of fal; an error without such a code may come from a gateway. */
  isCoded: boolean;
}

/**
 * The error in an answer; undefined when it has none. Of several, a content decision counts, else the first. A plain text has the
 * code `HTTP <status>`.
 */
export const falErrorOf = (answer: HttpAnswer): FalError | undefined => {
  if (answer.kind !== 'answered') return undefined;
  const { status, body, errorType } = answer;
  const told = readBody(ModelErrors, body)?.detail ?? [];
  const first = told.find(({ type }) => type === 'content_policy_violation') ?? told[0];
  if (first) return { code: first.type, message: first.msg, at: pathOf(first.loc), isCoded: true };
  const platform = readBody(PlatformError, body);
  if (platform) {
    return { code: platform.error_type, message: platform.detail ?? platform.error, isCoded: true };
  }
  const plain = readBody(PlainError, body)?.detail;
  if (errorType !== undefined) return { code: errorType, message: plain, isCoded: true };
  return plain === undefined ? undefined : { code: `HTTP ${status}`, message: plain, isCoded: false };
};

/** A model's output: every field may be null, and a file may be its bare URL. */
const Output = z.object({
  images: z.optional(z.unknown()),
  image: z.optional(z.unknown()),
  has_nsfw_concepts: z.optional(z.unknown()),
  video: z.optional(z.unknown()),
  duration: optionalNumber(),
  seed: optionalNumber(),
});

/** Statuses about our key or the number of our queries. They say nothing of the task. */
const UNTOLD = new Set([401, 402, 403, 429]);

/** The words of the result of a request that runs. */
const STILL_RUNS = /still in progress/i;

/**
 * The meaning of a completed request's result. An HTTP error without an error of fal may be a gateway's, so the result is read
 * again.
 */
export const readFalResult = (answer: HttpAnswer): ProviderAnswer => {
  const error = falErrorOf(answer);
  if (answer.kind !== 'answered' || UNTOLD.has(answer.status)) {
    return untoldTask('fal', answer, error, FAL_ERRORS);
  }
  const { status, retryAfterSeconds } = answer;
  if (error && (error.isCoded || status === 422 || status < 300))
    return failedTask('fal', error, FAL_ERRORS, answer);
  if (saysLater(status) || STILL_RUNS.test(error?.message ?? ''))
    return { kind: 'busy', reason: `the result was answered with ${status}`, retryAfterSeconds };
  if (status !== 200) return unreadTask('fal');
  const output = readBody(Output, answer.body);
  return output ? mediaOf(output) : untoldTask('fal', answer as Answered, undefined, FAL_ERRORS);
};

const listOf = (value: unknown): unknown[] => [value ?? []].flat();

const mediaOf = ({
  images,
  image,
  video,
  has_nsfw_concepts: flags,
  duration,
  seed,
}: z.output<typeof Output>): ProviderAnswer => {
  const videoUrl = urlOf(video);
  if (videoUrl !== undefined) {
    const outputSeconds = duration ?? numberOf(video, 'duration');
    const usage = outputSeconds === undefined ? {} : { usage: { outputSeconds } };
    return { kind: 'done', outputs: [{ url: videoUrl }], ...usage, ...reportedSeed(seed) };
  }
  // Z-Image does not fail for content: it flags the image, which may be black.
  const outputs = listOf(images ?? image).map((file, index): ProviderOutput => {
    if (listOf(flags)[index] === true) return { failure: REFUSED_OUTPUT };
    const url = urlOf(file);
    return url === undefined ? { failure: failureOf('error') } : { url };
  });
  if (outputs.some((output) => 'url' in output)) return { kind: 'done', outputs, ...reportedSeed(seed) };
  return { kind: 'failed', failure: failureOfAll(outputs) };
};
