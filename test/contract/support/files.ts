import sharp from 'sharp';

/** A file as a caller gets it. */
export interface FetchedFile {
  status: number;
  type: string | null;
  bytes: Buffer;
}

/** Fetches a whole file: an unread body would keep its connection, and the process, open. */
export const fetchFile = async (url: string | URL | undefined): Promise<FetchedFile> => {
  const response = await fetch(url ?? '');
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, type: response.headers.get('content-type'), bytes };
};

/** Format and size of an image, from its bytes. */
export const measure = async ({ bytes }: FetchedFile): Promise<{ format: string; size: string }> => {
  const { width, height, format } = await sharp(bytes).metadata();
  return { format, size: `${width}x${height}` };
};
