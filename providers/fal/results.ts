import * as z from 'zod/mini';
import type { ProviderAnswer, ProviderOutput } from '../../core/provider-calls/providers.ts';
import {
  type Classify,
  failedTask,
  failureOf,
  failureOfAll,
  type ToldError,
  untoldTask,
} from '../failures.ts';
import {
  type HttpAnswer,
  optional,
  optionalNumber,
  optionalText,
  readBody,
  requiredText,
  saidText,
} from '../http.ts';
import { classifyFalError } from './outcomes.ts';

const ModelErrors = z.object({ detail: z.array(z.object({ type: requiredText(), msg: saidText() })) });
const PlatformError = z.object({ error_type: requiredText(), detail: saidText(), error: saidText() });
const PlainError = z.object({ detail: requiredText() });

/** An error as a body of fal tells it. */
export interface FalError extends ToldError {
  /** Whether it has a code of fal: any other may come from a gateway. */
  isCoded: boolean;
}

/** The error in a body; undefined when it has none. A plain text has the code `HTTP <status>`. */
export const falErrorOf = (answer: HttpAnswer): FalError | undefined => {
  if (answer.kind !== 'answered') return undefined;
  const { status, body } = answer;
  const [first] = readBody(ModelErrors, body)?.detail ?? [];
  if (first) return { code: first.type, message: first.msg, isCoded: true };
  const platform = readBody(PlatformError, body);
  if (platform) {
    return { code: platform.error_type, message: platform.detail ?? platform.error, isCoded: true };
  }
  const plain = readBody(PlainError, body);
  return plain && { code: `HTTP ${status}`, message: plain.detail, isCoded: false };
};

const File = z.object({ url: optionalText() });
const Output = z.object({
  images: optional(z.array(File)),
  has_nsfw_concepts: optional(z.array(z.unknown())),
  video: optional(z.object({ url: optionalText(), duration: optionalNumber() })),
  duration: optionalNumber(),
});

/** A result that is not there is no refusal of our account: the request has completed, so it is read again. */
const classifyResult: Classify = (status, code) =>
  classifyFalError(status === 404 ? undefined : status, code);

/** Statuses about our key or the number of our queries. They say nothing of the task. */
const UNTOLD = new Set([401, 403, 429]);

/**
 * What the result of a completed request means. A status of its own says nothing without an error of fal: it may be a gateway's, and the
 * result is read again.
 */
export const readFalResult = (answer: HttpAnswer): ProviderAnswer => {
  const error = falErrorOf(answer);
  const untold = () => untoldTask('fal', answer, error?.code, classifyResult);
  if (answer.kind !== 'answered' || UNTOLD.has(answer.status)) return untold();
  if (error && (error.isCoded || answer.status === 422)) {
    return failedTask('fal', error, classifyFalError, answer);
  }
  const output = answer.status === 200 ? readBody(Output, answer.body) : undefined;
  return output && isOutput(answer.body) ? mediaOf(output) : untold();
};

/** Whether a body is one of a model: every field of it may be null. */
const isOutput = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && ('images' in body || 'video' in body);

const mediaOf = ({
  images,
  video,
  has_nsfw_concepts: flags,
  duration,
}: z.output<typeof Output>): ProviderAnswer => {
  if (video?.url !== undefined) {
    const outputSeconds = duration ?? video.duration;
    const usage = outputSeconds === undefined ? {} : { usage: { outputSeconds } };
    return { kind: 'done', outputs: [{ url: video.url }], ...usage };
  }
  // Z-Image does not fail for content: it flags the image, which may be black.
  const outputs = (images ?? []).map(({ url }, index): ProviderOutput => {
    if (flags?.[index] === true) return { failure: failureOf('content') };
    return url === undefined ? { failure: failureOf('error') } : { url };
  });
  if (outputs.some((output) => 'url' in output)) return { kind: 'done', outputs };
  return { kind: 'failed', failure: failureOfAll(outputs) };
};
