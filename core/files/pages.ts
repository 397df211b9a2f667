/** A file that the distribution serves to everyone, without a signed URL. */
export interface PublicPage {
  /** The file name in the bundle of `functions/events/publish-pages.ts`. */
  file: string;
  /** The key in the bucket, also the path after a slash. */
  key: string;
  contentType: string;
  /** How it is stored, and sent to every client. Scripts only, which browsers read: all of them take gzip. */
  encoding?: 'gzip';
  /** Cache time of browsers and edges; by default that of `publishPages`. */
  maxAgeSeconds?: number;
}

/** The OpenAPI document, which names the address of the API once it is published. */
export const OPENAPI_FILE = 'openapi.json';

/** The reference page, which leads back to the console where one is published. */
export const REFERENCE_FILE = 'docs.html';

/** The document, and the reference page made of it. */
export const PUBLIC_PAGES: readonly PublicPage[] = [
  { file: OPENAPI_FILE, key: 'openapi.json', contentType: 'application/json' },
  { file: REFERENCE_FILE, key: 'docs', contentType: 'text/html; charset=utf-8' },
  {
    file: 'redoc.standalone.js',
    key: 'docs/redoc.standalone.js',
    contentType: 'text/javascript; charset=utf-8',
    encoding: 'gzip',
    maxAgeSeconds: 86_400,
  },
  {
    file: 'redoc.standalone.js.LICENSE.txt',
    key: 'docs/redoc.standalone.js.LICENSE.txt',
    contentType: 'text/plain; charset=utf-8',
  },
];

/** The paths of these pages, as CloudFront's patterns. No file of a request has a path that matches. `/` is a page's too, by `rootPage`. */
export const PUBLIC_PATHS = ['/', '/openapi.json', '/docs', '/docs/*'];

/** The console, which is published where it is asked for. */
export const CONSOLE_PAGES: readonly PublicPage[] = [
  { file: 'console.html', key: 'console', contentType: 'text/html; charset=utf-8' },
  {
    file: 'console.js',
    key: 'console/console.js',
    contentType: 'text/javascript; charset=utf-8',
    encoding: 'gzip',
  },
  { file: 'console.css', key: 'console/console.css', contentType: 'text/css; charset=utf-8' },
  { file: 'console.licenses.txt', key: 'console/licenses.txt', contentType: 'text/plain; charset=utf-8' },
];

/** The paths of the console, in the same way. */
export const CONSOLE_PATHS = ['/', '/console', '/console/*'];

/** The key of the page at `/`: the console if published, else the reference. */
export const rootPage = (hasConsole: boolean): string => (hasConsole ? 'console' : 'docs');

/** Where the console finds files, besides its own address. */
export interface ConsoleSources {
  /** The address of the files, where that is another one. */
  filesUrl: string | undefined;
  /** The storage that takes the forms of uploads. Undefined: nothing is uploaded. */
  uploadsUrl: string | undefined;
}

/** Where the forms of uploads are sent: in a local run the storage has another port of the machine with each start. */
const uploadsSource = (uploadsUrl: string | undefined, filesUrl: string | undefined): string | undefined =>
  filesUrl !== undefined && uploadsUrl !== undefined && new URL(filesUrl).protocol === 'http:'
    ? `http://${new URL(filesUrl).hostname}:*`
    : uploadsUrl;

/**
 * The console's content security policy. The page may show images and videos from the origin of the files, and files chosen for an upload.
 * The page may read files, for an archive, and send the forms of uploads.
 */
export const consoleContentPolicy = ({ filesUrl, uploadsUrl }: ConsoleSources): string => {
  const files = filesUrl === undefined ? [] : [new URL(filesUrl).origin];
  const uploads = [uploadsSource(uploadsUrl, filesUrl) ?? []].flat();
  return [
    "default-src 'self'",
    ["img-src 'self' data: blob:", ...files].join(' '),
    ["media-src 'self' blob:", ...files].join(' '),
    ["connect-src 'self'", ...files, ...uploads].join(' '),
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
};
