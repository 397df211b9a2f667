import { isObject } from '../http.ts';
import { invalidParameter, missingParameter } from './errors.ts';
import type { VideoModel } from './video-models.ts';

type MediaType = 'image_url' | 'video_url' | 'audio_url';

/** The roles of each type; the first is the default. */
const ROLES = {
  image_url: ['first_frame', 'last_frame', 'reference_image'],
  video_url: ['reference_video'],
  audio_url: ['reference_audio'],
} as const satisfies Record<MediaType, readonly string[]>;

type Role = (typeof ROLES)[MediaType][number];

/** Matches the start only: matching megabytes of base64 would overflow the regular expression engine's stack. */
const MEDIA_URL =
  /^(?:https?:\/\/\S|asset:\/\/\S|data:(?:image|video|audio)\/[a-z0-9+.-]+;base64,[A-Za-z0-9+/])/;

const isMediaType = (type: unknown): type is MediaType => typeof type === 'string' && type in ROLES;

const readText = (item: Record<string, unknown>, field: string): string => {
  if (typeof item.text !== 'string') throw invalidParameter(`${field}.text`, 'a string is required');
  return item.text;
};

const readRole = (item: Record<string, unknown>, type: MediaType, field: string): Role => {
  const media = item[type];
  const url = isObject(media) ? media.url : undefined;
  if (typeof url !== 'string' || !MEDIA_URL.test(url)) {
    throw invalidParameter(
      `${field}.${type}.url`,
      'expected an http(s) URL, a base64 data URL or an asset id',
    );
  }
  const roles: readonly Role[] = ROLES[type];
  const role = roles.find((candidate) => candidate === (item.role ?? roles[0]));
  if (role === undefined) throw invalidParameter(`${field}.role`, `expected one of ${roles.join(', ')}`);
  return role;
};

const checkRoles = (roles: readonly Role[], { maxReferences, takesAudioAlone }: VideoModel) => {
  const count = (role: Role) => roles.filter((candidate) => candidate === role).length;
  for (const frame of ['first_frame', 'last_frame'] as const) {
    if (count(frame) > 1) throw invalidParameter('content', `at most one ${frame} is supported`);
  }
  if (count('last_frame') > 0 && count('first_frame') === 0) {
    throw invalidParameter('content', 'a last_frame needs a first_frame');
  }
  const references = ['reference_image', 'reference_video', 'reference_audio'] as const;
  const counts = references.map(count);
  if (count('first_frame') > 0 && counts.some((references) => references > 0)) {
    throw invalidParameter(
      'content',
      'first/last frame content cannot be mixed with reference media content',
    );
  }
  for (const role of references) {
    if (count(role) > maxReferences[role]) {
      throw invalidParameter('content', `at most ${maxReferences[role]} ${role} are supported`);
    }
  }
  const [images = 0, videos = 0, audios = 0] = counts;
  if (!takesAudioAlone && audios > 0 && images + videos === 0) {
    throw invalidParameter('content', 'reference_audio needs a reference_image or a reference_video');
  }
};

/**
 * Validates the `content` of a video task: at least one item, each medium with a role of its type, and a valid
 * combination of roles. Returns the texts joined by newlines. The media themselves are not fetched. Throws
 * `UpstreamError`.
 */
export const readVideoContent = (content: unknown, model: VideoModel): { prompt: string } => {
  if (content === undefined) throw missingParameter('content');
  if (!Array.isArray(content) || content.length === 0) {
    throw invalidParameter('content', 'a list that is not empty is required');
  }
  const texts: string[] = [];
  const roles: Role[] = [];
  for (const [index, item] of content.entries()) {
    const field = `content[${index}]`;
    const type = isObject(item) ? item.type : undefined;
    if (type === 'text') texts.push(readText(item, field));
    else if (isMediaType(type)) roles.push(readRole(item, type, field));
    else throw invalidParameter(`${field}.type`, 'expected text, image_url, video_url or audio_url');
  }
  checkRoles(roles, model);
  return { prompt: texts.join('\n') };
};
