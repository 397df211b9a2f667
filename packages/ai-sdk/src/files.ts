import type { Experimental_VideoModelV4File, ImageModelV4File } from '@ai-sdk/provider';

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

/** A file as the client takes it: its URL, or a `Blob`, which the client uploads. */
export const fileOf = (file: ImageModelV4File | Experimental_VideoModelV4File): string | Blob => {
  if (file.type === 'url') return file.url;
  const { data, mediaType } = file;
  return new Blob([typeof data === 'string' ? bytesOf(data) : new Uint8Array(data)], { type: mediaType });
};
