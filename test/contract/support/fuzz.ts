import fc from 'fast-check';
import { aGeneration } from './client.ts';
import { filled, ROUTES } from './routes.ts';
import { anUnfilmedVideo } from './videos.ts';

/** A request that may be malformed in any way. */
export interface FuzzedRequest {
  method: string;
  /** Includes the query. */
  path: string;
  headers: Record<string, string>;
  /** The body as sent; undefined for none. */
  body: string | undefined;
}

/** Existing values a fuzzed request may use. */
export interface Known {
  key: string;
  requestIds: string[];
  emails: string[];
  /** Paths a provider calls back. */
  callbackPaths: string[];
}

const anyText = fc.string({ unit: 'binary', maxLength: 40 });
/** What an HTTP header can carry: Latin-1 without control characters. */
const headerText = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code < 0x7f || code > 0x9f)
    .map((code) => String.fromCharCode(code)),
  maxLength: 300,
});

/** Escapes that are broken, not UTF-8, or have a special meaning somewhere. */
const ODD_ESCAPES = [
  ...['%00', '%', '%zz', '%E0%A4%A', '%C0%AF', '%ED%A0%80', '%FF', '%2F', '%2f..%2f', '%2e%2e', '%5c'],
  ...['%0d%0a', '%2B', '+', '%20', '%25', '%2500', '%3F', '%23', '%E2%80%AE', '%F0%9F%98%80', '%7F'],
  ...["'", '"', '{}', '$.'],
];
const LONE_SURROGATE = '\ud800';

const emails = ({ emails: known }: Known) =>
  fc.oneof(
    fc.constantFrom(...known),
    fc.emailAddress(),
    anyText.map((text) => `${text}@example.com`),
    fc.constantFrom(
      'ada+tag@example.com',
      'zoë@bücher.example',
      '用户@例え.テスト',
      ' ADA@EXAMPLE.COM ',
      'a@b',
    ),
  );

const ids = ({ requestIds }: Known) =>
  fc.oneof(
    fc.constantFrom(...requestIds),
    fc.stringMatching(/^(img|vid)_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
    anyText,
    fc.constantFrom('__proto__', 'constructor', '', 'latest'),
  );

const pathValues = (known: Known) =>
  fc.oneof(
    fc.oneof(emails(known), ids(known), anyText).map(encodeURIComponent),
    fc
      .array(fc.constantFrom(...ODD_ESCAPES, 'a', 'ada@example.com'), { maxLength: 5 })
      .map((parts) => parts.join('')),
    fc.integer({ min: 1, max: 6000 }).map((length) => 'x'.repeat(length)),
  );

const QUERY_NAMES = ['page', 'pageSize', 'status', 'endUserEmail', 'createdAfter', 'blocked', 'email'];
const QUERY_VALUES = [
  ...['0', '1', '2', '50', '51', '-1', '1e3', '999999999', '9'.repeat(400), ''],
  ...['true', 'false', 'failed', 'expired'],
  ...['2026-01-01T00:00:00Z', '1969-12-31T23:59:59Z', '0000-01-01T00:00:00Z'],
  ...['9999-12-31T23:59:59.999999999Z', '2026-01-01T00:00+02:00', '-271821-04-20T00:00:00Z'],
  ...['+275760-09-13T00:00:00Z', 'x'.repeat(255)],
];

const queries = (known: Known) => {
  const names = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...QUERY_NAMES) },
    { weight: 1, arbitrary: fc.oneof(anyText, fc.constantFrom('__proto__', 'toString', '')) },
  );
  const values = fc.oneof(fc.constantFrom(...QUERY_VALUES), emails(known), anyText);
  const encoded = fc
    .tuple(names, values)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  const raw = fc.constantFrom(...ODD_ESCAPES).map((odd) => `email=${odd}&page`);
  return fc.array(fc.oneof({ weight: 6, arbitrary: encoded }, { weight: 1, arbitrary: raw }), {
    maxLength: 4,
  });
};

const headers = ({ key }: Known) =>
  fc.record(
    {
      authorization: fc.oneof(
        { weight: 12, arbitrary: fc.constant(`Bearer ${key}`) },
        { weight: 1, arbitrary: headerText },
        { weight: 1, arbitrary: headerText.map((text) => `Bearer ${text}`) },
      ),
      'idempotency-key': fc.oneof(
        { weight: 1, arbitrary: headerText },
        { weight: 1, arbitrary: fc.constantFrom('a', 'b', 'c') },
        { weight: 6, arbitrary: fc.uuid() },
      ),
      'content-type': fc.oneof(headerText, fc.constantFrom('application/json', 'text/plain', 'image/png')),
      accept: fc.oneof(headerText, fc.constantFrom('*/*', 'text/html', 'image/*')),
    },
    { requiredKeys: ['authorization'] },
  );

/** Values close to valid ones, or known for breaking parsers. */
const ODD_VALUES: unknown[] = [
  ...[null, true, 0, 1, -1, 1.5, 1e308, -0, '', ' ', '0', [], {}, [[]], [null], LONE_SURROGATE],
  ...['1K', '256x256', '256X256', '0x0', '999999x999999', 'auto', 'square', 'xZI1.0Pro', 'xSD4.5', 'xW3.0s'],
  ...['https://example.com/a.png', `https://example.com/${LONE_SURROGATE}`, 'https://exa mple.com'],
  ...[
    'javascript:1',
    'http://127.0.0.1:1/',
    'https://user:pass@example.com',
    'https://example.com/\u0000',
    'x'.repeat(5000),
  ],
  ...[
    // A reference that is never fetched, not even to measure it: its port is refused.
    ['http://127.0.0.1:1/'],
    { maxImages: 1 },
    { maxImages: null, x: 1 },
    `a@example.com${LONE_SURROGATE}`,
  ],
];

const COMMON_FIELDS = ['model', 'prompt', 'endUserEmail', 'webhookUrl', 'seed', '__proto__', 'toString'];
const IMAGE_FIELDS = ['size', 'aspectRatio', 'n', 'references', 'sequential', 'sequentialOptions'];
const VIDEO_FIELDS = [
  ...['resolution', 'durationSec', 'image', 'lastFrame', 'ratio'],
  ...['referenceImages', 'referenceVideos', 'referenceAudios'],
];

/** A creation with some fields replaced, omitted or added. Cheap if accepted. */
const creationsLike = (
  known: Known,
  base: Record<string, unknown>,
  fields: readonly string[],
): fc.Arbitrary<string> => {
  const value = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...ODD_VALUES) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
  const owners = fc.oneof(
    { weight: 4, arbitrary: fc.nat(50).map((number) => `user${number}@example.com`) },
    { weight: 1, arbitrary: emails(known) },
  );
  return fc
    .tuple(owners, fc.array(fc.tuple(fc.constantFrom(...fields), value), { maxLength: 3 }))
    .map(([endUserEmail, changes]) =>
      JSON.stringify(Object.fromEntries([...Object.entries({ ...base, endUserEmail }), ...changes])),
    );
};

const creations = (known: Known) =>
  creationsLike(known, aGeneration({ size: '512x512', prompt: '[fail=content_policy] fuzzed' }), [
    ...COMMON_FIELDS,
    ...IMAGE_FIELDS,
  ]);

const videoCreations = (known: Known) =>
  creationsLike(known, anUnfilmedVideo({ prompt: '[delay=0][fail=content_policy] fuzzed' }), [
    ...COMMON_FIELDS,
    ...VIDEO_FIELDS,
  ]);

const bulkDeletes = (known: Known) =>
  fc
    .array(fc.oneof({ weight: 8, arbitrary: ids(known) }, { weight: 1, arbitrary: fc.jsonValue() }), {
      maxLength: 12,
    })
    .map((requestIds) => JSON.stringify({ requestIds }));

const bodies = (known: Known) =>
  fc.oneof(
    { weight: 6, arbitrary: creations(known) },
    { weight: 3, arbitrary: bulkDeletes(known) },
    { weight: 2, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
    { weight: 1, arbitrary: fc.constantFrom('[', '{"', '{"a":1,}', 'null', '\ufeff{}', '[1e999]') },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: 1, max: 50_000 })
        .map((depth) => `{"n":${'['.repeat(depth)}${']'.repeat(depth)}}`),
    },
  );

const VIDEOS_PATH = '/v1/videos';

/** Callbacks as a provider sends them, and callbacks with one part replaced. */
const callbacks = ({ callbackPaths }: Known) => {
  const paths = callbackPaths.flatMap((path) => {
    const parts = path.split('/');
    return [path, ...[2, 3, 4].map((place) => parts.with(place, '{requestId}').join('/'))];
  });
  return fc.constantFrom(...paths).map((path) => ({ method: 'POST', path }));
};

/** Requests to every route, with any part possibly wrong; many of them creations. */
export const fuzzedRequests = (known: Known): fc.Arbitrary<FuzzedRequest> => {
  const routes = fc.oneof(
    { weight: 4, arbitrary: fc.constant({ method: 'POST', path: '/v1/generations' }) },
    { weight: 3, arbitrary: fc.constant({ method: 'POST', path: VIDEOS_PATH }) },
    { weight: 2, arbitrary: callbacks(known) },
    { weight: 12, arbitrary: fc.constantFrom(...ROUTES) },
    {
      weight: 1,
      arbitrary: fc.record({
        method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
        path: fc.constantFrom(...ROUTES.map(({ path }) => path), '/v1/x/{email}', '/{email}'),
      }),
    },
  );
  const someQuery = queries(known);
  const query = fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: someQuery });
  const anyBody = bodies(known);
  const imageBody = fc.oneof(creations(known), anyBody);
  const videoBody = fc.oneof(videoCreations(known), anyBody);
  return fc
    .tuple(routes, pathValues(known), query, headers(known))
    .chain(([{ method, path }, value, parameters, sent]) => {
      // A list's query and a creation's body matter most.
      const chosenParameters =
        method === 'GET' && parameters.length === 0 ? someQuery : fc.constant(parameters);
      const created = path === VIDEOS_PATH ? videoBody : imageBody;
      return fc
        .tuple(chosenParameters, method === 'GET' ? fc.constant(undefined) : created)
        .map(([all, text]) => ({
          method,
          path: filled(path, value) + (all.length > 0 ? `?${all.join('&')}` : ''),
          headers: sent,
          body: text,
        }));
    });
};
