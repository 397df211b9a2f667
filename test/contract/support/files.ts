import sharp from 'sharp';

/** A file as a caller gets it. */
export interface FetchedFile {
  status: number;
  type: string | null;
  /** `Content-Disposition` and `X-Content-Type-Options`. */
  disposition: string | null;
  typeOptions: string | null;
  bytes: Buffer;
}

/** Fetches a whole file: an unread body would keep its connection, and the process, open. */
export const fetchFile = async (url: string | URL | undefined): Promise<FetchedFile> => {
  const response = await fetch(url ?? '');
  const bytes = Buffer.from(await response.arrayBuffer());
  const header = (name: string) => response.headers.get(name);
  return {
    status: response.status,
    type: header('content-type'),
    disposition: header('content-disposition'),
    typeOptions: header('x-content-type-options'),
    bytes,
  };
};

/** Format and size of an image, from its bytes. */
export const measure = async ({ bytes }: FetchedFile): Promise<{ format: string; size: string }> => {
  const { width, height, format } = await sharp(bytes).metadata();
  return { format, size: `${width}x${height}` };
};
