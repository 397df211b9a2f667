import { describe, expect, test } from '@jest/globals';
import { ValidationError } from '../../../core/errors.ts';
import { ApiRequest } from '../../../functions/http/api-request.ts';
import {
  type AskedImages,
  MAX_FORM_BYTES,
  MAX_IMAGES,
  readImageForm,
} from '../../../functions/openai/read-calls.ts';
import { anApiEvent } from '../builders/api-events.ts';
import { NOW } from '../builders/clocks.ts';

const BOUNDARY = 'b'.repeat(30);
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const part = (name: string, value: string, file = ''): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
const file = (name: string, value: string): string => part(name, value, '; filename="a.png"');
const END = `--${BOUNDARY}--\r\n`;

const readBody = (body: string, contentType: string | undefined = TYPE): Promise<AskedImages> =>
  readImageForm(
    new ApiRequest(
      anApiEvent({
        headers: contentType === undefined ? {} : { 'content-type': contentType },
        ...{ body: Buffer.from(body, 'latin1').toString('base64'), isBase64Encoded: true },
      }),
      NOW,
    ),
  );
const readForm = (...parts: string[]) => readBody(parts.join('') + END);
/** The fields of a refusal. */
const refusal = async (reading: Promise<unknown>): Promise<object> => {
  const error: unknown = await reading.catch((thrown: unknown) => thrown);
  if (!(error instanceof ValidationError)) throw new Error('It was not refused.');
  return error.fields;
};

describe('a text of a form', () => {
  test.each<[string, string, unknown]>([
    ['n', '2', 2],
    ['n', '007', 7],
    ['n', '999999999', 999_999_999],
    ['n', '1000000000', '1000000000'],
    ['n', '1e1', '1e1'],
    ['n', '-1', '-1'],
    ['n', '', ''],
    ['partial_images', '0', 0],
    ['output_compression', '50', 50],
    ['user', '5', '5'],
    ['prompt', '2', '2'],
    ['stream', 'true', true],
    ['stream', 'false', false],
    ['stream', 'TRUE', 'TRUE'],
    ['stream', '1', '1'],
    ['prompt', 'true', 'true'],
  ])('%s=%j is %j: a number or truth value only where the parameter is one', async (name, text, value) => {
    const { given } = await readForm(file('image', 'x'), part(name, text));

    expect(given).toEqual({ [name]: value });
  });

  test('is refused when it is given twice, and keeps the first', async () => {
    const { given, fields } = await readForm(file('image', 'x'), part('n', '1'), part('n', '2'));

    expect([given, fields]).toEqual([{ n: 1 }, { n: 'is given more than once' }]);
  });

  test('may have any name, which is refused by its own', async () => {
    const { given, fields } = await readForm(
      file('image', 'x'),
      part('__proto__', '1'),
      part('__proto__', '2'),
    );

    expect([Object.keys(given), Object.keys(fields)]).toEqual([['__proto__'], ['__proto__']]);
  });

  test('is no file: a file in its place is refused by the rules of the parameter', async () => {
    expect((await readForm(file('image', 'x'), file('prompt', 'x'))).given).toEqual({ prompt: {} });
  });
});

describe('the images of a form', () => {
  test.each(['image', 'image[]'])('are the files and URLs named %s, in their order', async (name) => {
    const { given, images, fields } = await readForm(
      file(name, 'one'),
      part(name, 'https://a'),
      file(name, ''),
    );

    expect(images).toEqual([...[{ bytes: Buffer.from('one') }, 'https://a', { bytes: Buffer.from('') }]]);
    expect([given, fields]).toEqual([{}, {}]);
  });

  test('are required, and at most as many as any model takes', async () => {
    const of = async (count: number) => (await readForm(...Array(count).fill(file('image', 'x')))).fields;

    expect(await of(0)).toEqual({ image: 'is required' });
    expect(await of(MAX_IMAGES)).toEqual({});
    expect(await of(MAX_IMAGES + 1)).toEqual({ image: `must be at most ${MAX_IMAGES}` });
  });

  test('have 4 MiB in all, which their URLs do not count to', async () => {
    const half = 'x'.repeat(2 * 1024 * 1024);
    const of = async (...parts: string[]) => (await readForm(...parts)).fields;

    expect(await of(file('image', half), file('image', half), part('image', 'https://a'))).toEqual({});
    expect(await of(file('image', half), file('image', `${half}x`))).toEqual({
      image: 'must be at most 4 MiB, all files together',
    });
  });
});

describe('a form', () => {
  test('has at most as many bytes as its files and 256 KiB of texts', async () => {
    const begun = file('image', 'x');
    const filled = (bytes: number): string => begun + END.padEnd(bytes - begun.length, '\n');

    expect(MAX_FORM_BYTES).toBe(4.25 * 1024 * 1024);
    expect((await readBody(filled(MAX_FORM_BYTES))).images).toHaveLength(1);
    expect(await refusal(readBody(filled(MAX_FORM_BYTES + 1)))).toEqual({ body: 'must be at most 4 MiB' });
  });

  test('has at most 30 texts beside the most images, counted before it is read', async () => {
    const most = MAX_IMAGES + 30;
    // The end counts as a part.
    expect(await readForm(...Array(most).fill(file('image', 'x')))).toMatchObject({
      fields: { image: `must be at most ${MAX_IMAGES}` },
    });
    expect(await refusal(readForm(...Array(most + 1).fill(file('image', 'x'))))).toEqual({
      image: `must be at most ${MAX_IMAGES}`,
    });
  });

  test.each([
    [undefined, 'must be multipart/form-data'],
    ['text/plain', 'must be multipart/form-data'],
    ['multipart/form-data', 'must be multipart/form-data'],
    [`multipart/mixed; boundary=${BOUNDARY}`, 'must be multipart/form-data'],
    ['multipart/form-data; charset=utf-8', 'must be multipart/form-data, whole and with its boundary'],
    ['multipart/form-data; boundary=', 'must be multipart/form-data, whole and with its boundary'],
    ['multipart/form-data; boundary="a\\b"', 'must be multipart/form-data, whole and with its boundary'],
    ['multipart/form-data; boundary=another', 'must be multipart/form-data, whole and with its boundary'],
  ])('is refused with the content type %j', async (contentType, body) => {
    // An event has no undefined header.
    const type = contentType ?? '';

    expect(await refusal(readBody(file('image', 'x') + END, type))).toEqual({ body });
  });

  test.each([
    `multipart/form-data; boundary="${BOUNDARY}"`,
    `Multipart/Form-Data ;charset=utf-8; Boundary=${BOUNDARY}`,
  ])('is read with the content type %j', async (contentType) => {
    expect((await readBody(file('image', 'x') + END, contentType)).images).toHaveLength(1);
  });

  test('that is not whole is refused', async () => {
    expect(await refusal(readBody(file('image', 'x')))).toEqual({
      body: 'must be multipart/form-data, whole and with its boundary',
    });
  });
});
