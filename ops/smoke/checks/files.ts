import { measureImage } from '@generation-service/media/measure-image';
import { SpooledVideo, type VideoMeasurement } from '@generation-service/media/spooled-video';
import { UnreadableVideoError, videoTypeOf } from '@generation-service/media/video-type';
import { type Check, CheckFailedError, ensure, left } from '../check.ts';
import type { ServedFile } from '../http.ts';
import type { Smoke } from '../smoke.ts';
import type { Kind } from './requests.ts';

/** Seconds by which a video may differ from the requested duration: providers round to frames. */
const SECONDS_TOLERANCE = 0.5;
/** Time to measure it. */
const MEASURE_MS = 60_000;
/** Part by which the shorter side may differ from its label: providers round to multiples of 16 or 32. */
const SIDE_TOLERANCE = 0.1;
const SHORT_SIDES: Record<string, number> = { '2k': 1440, '4k': 2160 };

/** The file of a request. Throws unless it is served, whole, as what it is and nothing else. */
const servedFile = async ({ caller, made }: Smoke, kind: Kind): Promise<ServedFile> => {
  const url = left(made[kind]?.url, `${kind} with a file`);
  const file = await caller.fetchFile(url);
  ensure(file.status === 200, `The file of the ${kind} answered ${file.status}.`);
  const length = file.headers.get('content-length');
  ensure(
    length === null || Number(length) === file.bytes.length,
    `The file of the ${kind} says ${length} bytes and has ${file.bytes.length}.`,
  );
  ensure(
    file.headers.get('x-content-type-options') === 'nosniff',
    `The file of the ${kind} is served without X-Content-Type-Options: nosniff.`,
  );
  ensure(
    /^inline; filename=/.test(file.headers.get('content-disposition') ?? ''),
    `The file of the ${kind} is served without its name in Content-Disposition.`,
  );
  return file;
};

const expectType = (kind: Kind, file: ServedFile, contentType: string): void => {
  const served = file.headers.get('content-type');
  ensure(served === contentType, `The file of the ${kind} is ${contentType} and is served as ${served}.`);
};

const kilobytes = ({ bytes }: ServedFile): string => `${Math.ceil(bytes.length / 1000)} kB`;

const imageFile: Check = {
  name: 'image file',
  async run(smoke) {
    const { expected } = left(smoke.made.creations?.image, 'image');
    const file = await servedFile(smoke, 'image');
    const measured = measureImage(file.bytes);
    if (!measured) throw new CheckFailedError('The file of the image is no PNG, JPEG or WebP.');
    const { width, height, contentType } = measured;
    expectType('image', file, contentType);
    ensure(
      width === expected.width && height === expected.height,
      `The image is ${width}x${height} instead of ${expected.width}x${expected.height}.`,
    );
    const { size } = left(smoke.made.image, 'image');
    ensure(size === `${width}x${height}`, `The record says ${size} of an image of ${width}x${height}.`);
    return `${contentType}, ${size}, ${kilobytes(file)}`;
  },
};

const measured = async ({ bytes }: ServedFile): Promise<VideoMeasurement> => {
  const video = new SpooledVideo();
  try {
    await video.write(bytes);
    return await video.measure(AbortSignal.timeout(MEASURE_MS));
  } catch (error) {
    if (error instanceof UnreadableVideoError)
      throw new CheckFailedError(`The file of the video ${error.message}.`);
    throw error;
  } finally {
    await video.close();
  }
};

const videoFile: Check = {
  name: 'video file',
  async run(smoke) {
    const { expected } = left(smoke.made.creations?.video, 'video');
    const file = await servedFile(smoke, 'video');
    const { durationSec, width = 0, height = 0 } = await measured(file);
    const contentType = videoTypeOf(file.bytes)?.contentType ?? 'no video';
    expectType('video', file, contentType);
    ensure(
      Math.abs(durationSec - expected.seconds) <= SECONDS_TOLERANCE,
      `The video lasts ${durationSec} s instead of ${expected.seconds}.`,
    );
    const side = SHORT_SIDES[expected.resolution] ?? Number.parseInt(expected.resolution, 10);
    const isOfSide = Math.abs(Math.min(width, height) - side) <= side * SIDE_TOLERANCE;
    ensure(isOfSide, `The video is ${width}x${height}, which is no ${expected.resolution}.`);
    return `${contentType}, ${width}x${height}, ${durationSec} s, ${kilobytes(file)}`;
  },
};

/** A signed URL with one letter of its signature changed. */
const withOtherSignature = (url: string): string => {
  const altered = new URL(url);
  const signature = altered.searchParams.get('Signature') ?? '';
  const middle = Math.floor(signature.length / 2);
  const letter = signature[middle] === 'A' ? 'B' : 'A';
  altered.searchParams.set('Signature', signature.slice(0, middle) + letter + signature.slice(middle + 1));
  return altered.href;
};

const withLaterExpiry = (url: string): string => {
  const altered = new URL(url);
  altered.searchParams.set('Expires', String(Number(altered.searchParams.get('Expires') ?? 0) + 3600));
  return altered.href;
};

const withoutSignature = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
};

const alteredUrl: Check = {
  name: 'altered URL',
  async run({ caller, made }) {
    const url = left(made.image?.url, 'image with a file');
    const altered = {
      'with another signature': withOtherSignature(url),
      'with a later expiry': withLaterExpiry(url),
      'without a signature': withoutSignature(url),
    };
    for (const [how, href] of Object.entries(altered)) {
      const { status } = await caller.fetchFile(href);
      ensure(status === 403, `The URL of the image ${how} answered ${status} instead of 403.`);
    }
    return '403';
  },
};

/** Checks of the signed URLs. */
export const FILE_CHECKS: readonly Check[] = [imageFile, videoFile, alteredUrl];
