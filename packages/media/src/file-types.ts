/** The extensions of the files that are delivered, by the kind of request. */
export const FILE_EXTENSIONS = {
  image: ['png', 'jpg', 'webp'],
  video: ['mp4', 'mov', 'webm', 'mkv'],
} as const;
export type ImageExtension = (typeof FILE_EXTENSIONS.image)[number];
export type VideoExtension = (typeof FILE_EXTENSIONS.video)[number];
