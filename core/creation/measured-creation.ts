import { withSlots } from '../concurrency/in-flight.ts';
import { waitingLimits } from '../concurrency/waiting-limits.ts';
import { workAllowance } from '../concurrency/work-allowance.ts';
import { ServiceError, ValidationError } from '../errors.ts';
import { parseHandle } from '../files/file-handles.ts';
import { loadUrlSigner } from '../files/signed-urls.ts';
import { findVideoModel } from '../models/catalog.ts';
import { clipKeys } from '../object-keys.ts';
import { earlyLimitsOf, inputRoutesOf } from '../provider-calls/model-routes.ts';
import { type InputFile, inputFilesOf, withInputFiles } from '../requests/input-files.ts';
import type { StoredRequest, VideoRequest } from '../requests/request-rules.ts';
import { addSeconds, systemClock, toInstant } from '../time.ts';
import { typedHandle } from '../uploads/own-upload.ts';
import { billedSeconds, type ClipLimits, clipProblems } from './create-video-rules.ts';
import {
  type FileToMeasure,
  type InputMeasure,
  type InputsToMeasure,
  tooManyInputs,
} from './input-measuring.ts';
import { invokeDiscardClips, invokeMeasureClips } from './invoke-measure-clips.ts';
import { type CreationFacts, routeFactsOf } from './judge-creation.ts';
import { judgeInputs } from './judge-inputs.ts';
import { withClips, withFirstRoute } from './new-request.ts';
import type { JudgedCreation } from './write-creation.ts';

/**
 * Limit on an account's creations that measure inputs at once: each waits for `measure-clips`, whose concurrency all accounts
 * share.
 */
export const MEASURING_SLOTS = 4;
/** Lease of a slot: longer than all attempts of a call to `measure-clips` (`CALL_LIMITS`). */
const LEASE_SECONDS = 25;

/** A request with inputs to measure, and its account as read before. */
type ToMeasure = Pick<JudgedCreation, 'request' | 'account' | 'now'>;

/** The calls that measure inputs, and remove the copies of a refused creation. */
export interface Measuring {
  measure: (inputs: InputsToMeasure) => Promise<InputMeasure[]>;
  discard: (inputs: InputsToMeasure) => Promise<void>;
}

/** Replacements for the usual way to measure inputs. */
export interface MeasuringWays {
  measuring?: Measuring | undefined;
  /** The bytes of files that came with the creation, by handle. */
  carried?: Carried;
}

/** A request with the results of measuring its inputs. */
export interface MeasuredRequest {
  request: StoredRequest;
  /** Removes the copies of the reference videos, when the request is surely not written. */
  discardCopies: () => Promise<void>;
}

type Carried = ReadonlyMap<string, Uint8Array>;

const MEASURE_CLIPS: Measuring = { measure: invokeMeasureClips, discard: invokeDiscardClips };

/** The inputs that are measured: reference videos, which are billed, and files of ours. The provider judges other files. */
export const inputsToMeasure = (request: StoredRequest): InputFile[] =>
  inputFilesOf(request).filter(({ medium, url }) => medium === 'video' || parseHandle(url));

/**
 * Measures the inputs of a request, and copies its reference videos into the bucket. The bucket's lifecycle removes copies that
 * nobody discards.
 *
 * Throws what `measure` throws, and `ValidationError` for files that cannot be used. Throws `ServiceError` with `rate_limited` when
 * too many requests are being measured, or the account's allowance of the hour is used up.
 */
export const measureCreation = async (
  { request, account: { accountId, earnedWork }, now }: ToMeasure,
  facts: CreationFacts,
  { measuring = MEASURE_CLIPS, carried = new Map() }: MeasuringWays = {},
): Promise<MeasuredRequest> => {
  const { measure, discard } = measuring;
  const inputs = inputsToMeasure(request);
  if (inputs.length === 0) return { request, discardCopies: async () => undefined };
  const limit = {
    slots: MEASURING_SLOTS,
    leaseSeconds: LEASE_SECONDS,
    allowance: workAllowance(earnedWork, 'clips', isThrottled),
  };
  const slots = await waitingLimits('clips', accountId, limit, now);
  const work = await workFor({ request, now }, inputs, carried);
  const discardCopies = async () => {
    if (work.files.some(({ medium }) => medium === 'video')) await discard(work);
  };
  let measures: InputMeasure[] | undefined;
  try {
    measures = await withSlots(slots, systemClock, tooManyInputs, () => measure(work));
    return { request: withMeasures(request, inputs, measures, { facts, carried }), discardCopies };
  } catch (error) {
    const mayBeCopied = measures ? measures.some(isCopied) : !isThrottled(error);
    if (mayBeCopied) await discardCopies();
    throw error;
  }
};

/** Longer than any measuring takes. */
const URL_SECONDS = 60;

/** The files to measure. Files of ours have URLs signed for a minute. */
const workFor = async (
  { request, now }: Pick<ToMeasure, 'request' | 'now'>,
  inputs: readonly InputFile[],
  carried: Carried,
): Promise<InputsToMeasure> => {
  const isOwn = ({ url }: InputFile): boolean => parseHandle(url) !== undefined && !carried.has(url);
  const sign = inputs.some(isOwn) ? await loadUrlSigner() : undefined;
  const until = addSeconds(toInstant(now), URL_SECONDS);
  const files = inputs.map((input): FileToMeasure => {
    const { medium, url } = input;
    const bytes = carried.get(url);
    if (bytes) return { medium, base64: Buffer.from(bytes).toString('base64') };
    return { medium, url: sign && isOwn(input) ? sign(url, until) : url };
  });
  const { referenceVideoMaxSeconds = Number.MAX_SAFE_INTEGER } = findVideoModel(request.model) ?? {};
  return { requestId: request.requestId, files, longestSeconds: referenceVideoMaxSeconds };
};

/** The limits of a model on reference videos. The total length may be as long as the most generous route accepts. */
const clipLimitsOf = (modelId: string, { credentials, left }: CreationFacts): ClipLimits => ({
  ...findVideoModel(modelId),
  routeSeconds: Math.max(
    ...earlyLimitsOf(modelId, credentials, left).map(
      ({ referenceVideosSeconds = Number.POSITIVE_INFINITY }) => referenceVideosSeconds,
    ),
  ),
});

const isCopied = (measure: InputMeasure): boolean => 'extension' in measure;

/** Whether an error means that measuring never began: without cost and without copies. */
const isThrottled = (error: unknown): boolean => error instanceof ServiceError;

/** The request with the results of measuring its inputs. Throws `ValidationError` for unusable inputs. */
const withMeasures = (
  request: StoredRequest,
  inputs: readonly InputFile[],
  measures: readonly InputMeasure[],
  { facts, carried }: { facts: CreationFacts; carried: Carried },
): StoredRequest => {
  const clips = measures.filter((_, index) => inputs[index]?.medium === 'video');
  const handles = new Map<string, string>();
  const judged = inputs.flatMap((input, index) => {
    const measure = measures[index];
    if (!measure) return [];
    const { url } = input;
    const handle = carried.has(url) && 'contentType' in measure ? typedHandle(url, measure.contentType) : url;
    handles.set(url, handle);
    return [{ ...input, url: handle, measure }];
  });
  const { fields, unfitRoutes } = judgeInputs(
    judged,
    inputRoutesOf(request.model, facts.credentials, facts.left),
  );
  const found = {
    ...(request.kind === 'video' &&
      clipProblems(request.durationSec, clips, clipLimitsOf(request.model, facts))),
    ...fields,
  };
  if (Object.keys(found).length > 0) throw new ValidationError(found);
  const named = withInputFiles(request, (url) => handles.get(url) ?? url);
  const routed = unfitRoutes.length > 0 ? { ...named, unfitRoutes } : named;
  const whole = routed.kind === 'video' && clips.length > 0 ? withMeasuredClips(routed, clips) : routed;
  return withFirstRoute(whole, routeFactsOf(request.model, facts));
};

const withMeasuredClips = (request: VideoRequest, clips: readonly InputMeasure[]): VideoRequest => {
  const extensions = clips.flatMap((one) => ('extension' in one ? (one.extension ?? []) : []));
  if (extensions.length < clips.length) throw new Error('A reference video was measured, but not copied.');
  return withClips(
    request,
    clipKeys(request.requestId, extensions),
    billedSeconds(request.durationSec, clips),
  );
};
