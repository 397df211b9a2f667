/** The media type in a `Content-Type` header, or the first in an `Accept` header; lower case, without parameters. */
const mediaTypeOf = (header: string | undefined): string | undefined =>
  header?.split(',')[0]?.split(';')[0]?.trim().toLowerCase() || undefined;

/** Whether the header's media type is one of `mediaTypes`, which may hold wildcards such as `image/*`. */
export const matchesMediaType = (mediaTypes: string[], header: string | undefined): boolean => {
  const mediaType = mediaTypeOf(header);
  return mediaTypes.some((pattern) => {
    if (pattern === '*/*') return true;
    if (!mediaType) return false;
    return pattern.endsWith('/*')
      ? mediaType.startsWith(pattern.slice(0, -1))
      : mediaType === pattern.toLowerCase();
  });
};
