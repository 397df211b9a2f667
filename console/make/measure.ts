import type { LocalFacts } from './file-rules.ts';

type Measured = Pick<LocalFacts, 'width' | 'height' | 'durationMs' | 'hasAlpha'>;

/** How long a browser may take to read a clip. What it does not read until then is left to the service. */
const PATIENCE_MILLISECONDS = 5_000;

/** Measures a picture, clip or sound by the browser's own reader. Nothing where the browser cannot read it, as with HEIC: the service can. */
export const measure = async (file: Blob, url: string, contentType: string): Promise<Measured> => {
  if (contentType === 'image/png') return { ...(await measurePicture(url)), hasAlpha: await hasAlpha(file) };
  if (contentType.startsWith('image/')) return measurePicture(url);
  return /^(video|audio)\//.test(contentType) ? measureClip(url, contentType) : {};
};

/** The place of the color type in a PNG, and the types with an alpha channel. */
const COLOR_TYPE_AT = 25;
const ALPHA_TYPES = [4, 6];

const hasAlpha = async (png: Blob): Promise<boolean> => {
  const [type] = new Uint8Array(await png.slice(COLOR_TYPE_AT, COLOR_TYPE_AT + 1).arrayBuffer());
  return type !== undefined && ALPHA_TYPES.includes(type);
};

const measurePicture = async (url: string): Promise<Measured> => {
  const picture = new Image();
  picture.src = url;
  const isRead = await picture.decode().then(
    () => true,
    () => false,
  );
  return isRead ? { width: picture.naturalWidth, height: picture.naturalHeight } : {};
};

const measureClip = (url: string, contentType: string): Promise<Measured> =>
  new Promise((resolve) => {
    const isVideo = contentType.startsWith('video/');
    const clip = document.createElement(isVideo ? 'video' : 'audio');
    setTimeout(() => resolve({}), PATIENCE_MILLISECONDS);
    clip.onerror = () => resolve({});
    clip.onloadedmetadata = () => {
      const { videoWidth = 0, videoHeight = 0 } = clip as Partial<HTMLVideoElement>;
      const length = Number.isFinite(clip.duration) ? { durationMs: Math.round(clip.duration * 1_000) } : {};
      resolve(videoWidth > 0 ? { width: videoWidth, height: videoHeight, ...length } : length);
    };
    clip.preload = 'metadata';
    clip.src = url;
  });
