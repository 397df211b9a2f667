import { aVideo } from '../../../../packages/media/test/videos.ts';
import type { World } from '../world.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import { aPng } from './media.ts';

/** What a caller's server has at the URL of a reference video; named in the URL. */
export const CLIP_KINDS = [
  'mp4',
  'mov',
  'webm',
  /** Another video each time it is fetched. */
  'changing',
  'slow',
  'too-long',
  'no-video',
  'missing',
] as const;
export type ClipKind = (typeof CLIP_KINDS)[number];

const HOST = 'clips.caller.example';

export const clipUrlOf = (kind: ClipKind, index: number): string => `https://${HOST}/${kind}/${index}`;

/** The videos that are served, by their length in seconds: each has a size of its own. */
const CLIPS = [
  { seconds: 1, container: 'mp4' },
  { seconds: 2, container: 'mov' },
  { seconds: 3, container: 'webm' },
  { seconds: 16, container: 'mp4' },
] as const;
const made = new Map<number, Uint8Array>();

/** Makes the videos that are served, once. */
export const makeClips = async (): Promise<void> => {
  for (const { seconds, container } of CLIPS) {
    made.set(seconds, await aVideo({ seconds, container, width: 64, height: 64, framesPerSecond: 2 }));
  }
};

/** The seconds of a video that was served, by its bytes; undefined for anything else. */
export const secondsOf = (bytes: Uint8Array): number | undefined =>
  [...made].find(([, clip]) => Buffer.compare(clip, bytes) === 0)?.[0];

const SECONDS: Record<ClipKind, readonly number[]> = {
  mp4: [1],
  mov: [2],
  webm: [3],
  changing: [1, 3],
  slow: [1],
  'too-long': [16],
  'no-video': [],
  missing: [],
};
/** How long a slow server takes: on both sides of the service's patience of 8 s. */
const SLOW_MS = [1_000, 7_000, 9_000];

/** The callers' own servers of reference videos. */
export const serveClips = (world: World): void => {
  let fetched = 0;
  world.http.sites.set(HOST, async ({ url }: HttpRequest): Promise<HttpAnswer> => {
    const kind = new URL(url).pathname.split('/')[1] as ClipKind;
    if (kind === 'slow') await world.scheduler.sleep(world.random.pick(SLOW_MS));
    if (kind === 'missing') return { status: 404, bytes: new Uint8Array() };
    const lengths = SECONDS[kind];
    const seconds = lengths[fetched++ % Math.max(1, lengths.length)];
    return { status: 200, bytes: seconds === undefined ? aPng : (made.get(seconds) as Uint8Array) };
  });
};
