import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fileUrl, isOwnAddress, parseHandle, toHandle } from '../../../../core/files/file-handles.ts';
import { withEnvironment } from '../../builders/environment.ts';

const FILES = 'https://files.example.com';
const UPLOAD = `uploads/${'o'.repeat(22)}/upl_01JD4KXQ8M0000000000000000.png`;
const OUTPUT = 'outputs/img_01JD4KXQ8M0000000000000000/0.jpg';

describe('the URL of a file of ours', () => {
  test.each([
    ['as it is', (key: string) => `${FILES}/${key}`],
    ['with a signature', (key: string) => `${FILES}/${key}?Expires=1&Key-Pair-Id=K&Signature=x~_-`],
    ['with a signature of no one', (key: string) => `${FILES}/${key}?Signature`],
    ['with a fragment', (key: string) => `${FILES}/${key}#x?y`],
    ['with a host in capitals', (key: string) => `${FILES.toUpperCase()}/${key}`],
    ['with a dot after the host', (key: string) => `${FILES}./${key}`],
    ['with the port', (key: string) => `${FILES}:443/${key}`],
    ['with an escape', (key: string) => `${FILES}/%${(key.charCodeAt(0)).toString(16)}${key.slice(1)}`],
    ['with an escape of each slash', (key: string) => `${FILES}/${key.replaceAll('/', '%2F')}`],
    ['with two slashes', (key: string) => `${FILES}//${key.replace('/', '//')}`],
    ['by way of another folder', (key: string) => `${FILES}/outputs/%2e%2e/${key}`],
  ])('is a handle, written %s', (_, urlOf) => {
    for (const key of [UPLOAD, OUTPUT]) expect(toHandle(urlOf(key))).toBe(key);
  });

  test.each([
    ...['127.0.0.1', '127.1', '127.0.0.2', '2130706433', '0x7f.1', '0177.0.0.1', '127.0.0.1.'],
    ...['localhost', 'LOCALHOST', 'localhost.', 'files.localhost', '１２７.0.0.1'],
    ...['[::1]', '[0:0::0:1]', '[::ffff:127.0.0.1]', '[::FFFF:7f00:1]'],
  ])('is a handle of a local run by each name of this machine: %s', async (host) => {
    await withEnvironment({ FILE_DELIVERY_BASE_URL: 'http://127.0.0.1:3000/files' }, () => {
      expect(toHandle(`http://${host}:3000/files/${UPLOAD}?Expires=1`)).toBe(UPLOAD);
      expect(isOwnAddress(`http://${host}:3000/files/docs`)).toBe(true);
      expect(isOwnAddress(`http://${host}:3001/files/${UPLOAD}`)).toBe(false);
      expect(isOwnAddress(`http://${host}:3000/${UPLOAD}`)).toBe(false);
    });
  });

  test('is a handle at the distribution’s own name too, where the files have another address', async () => {
    const own = { FILE_DELIVERY_DOMAIN: 'd111111abcdef8.cloudfront.net' };
    await withEnvironment({ ...own, FILE_DELIVERY_BASE_URL: 'https://proxy.example.com/files/' }, () => {
      expect(toHandle(`https://d111111abcdef8.cloudfront.net/${OUTPUT}?Expires=1`)).toBe(OUTPUT);
      expect(toHandle(`https://proxy.example.com/files/${OUTPUT}`)).toBe(OUTPUT);
      expect(isOwnAddress(`https://proxy.example.com/${OUTPUT}`)).toBe(false);
    });
  });

  test.each([
    `${FILES}/clips/vid_01JD4KXQ8M0000000000000000/0.mp4`,
    `${FILES}/openapi.json`,
    `${FILES}/uploads`,
    `${FILES}/uploads/%zz`,
    `${FILES}/`,
    `${FILES}/outputs/9f86/0.jpg?Expires=1`,
    `${FILES}/%2575ploads/${UPLOAD.slice(8)}`,
    `${FILES}/${UPLOAD}/more`,
    `${FILES}/${OUTPUT}x/`,
  ])('that is no input is at our address, and no handle: %s', (url) => {
    expect([toHandle(url), isOwnAddress(url)]).toEqual([url, true]);
  });

  test.each([
    `https://files.example.com.evil.example/${UPLOAD}`,
    `https://files.example.com:8443/${UPLOAD}`,
    `https://files.example.com:80/${UPLOAD}`,
    `http://files.example.com/${UPLOAD}`,
    `https://undefined/${UPLOAD}`,
    `https://other.example.com/${UPLOAD}?next=${FILES}`,
    'no URL',
    '',
  ])('is no other URL: %s', (url) => {
    expect([toHandle(url), isOwnAddress(url)]).toEqual([url, false]);
  });

  test('is made of its handle, and leads back to it', () => {
    expect(fileUrl(UPLOAD)).toBe(`${FILES}/${UPLOAD}`);
    expect(toHandle(fileUrl(OUTPUT))).toBe(OUTPUT);
  });

  test('of any text throws nothing, and changes no URL elsewhere', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc
            .tuple(fc.constantFrom('example.com', 'a.b:8080', '[::1]', FILES.slice(8, -1)), fc.string())
            .map(([host, rest]) => `https://${host}/${rest}`),
        ),
        (url) => {
          expect([toHandle(url), isOwnAddress(url)]).toEqual([url, false]);
        },
      ),
    );
  });
});

describe('a handle', () => {
  test('says whose file it is, or of which request', () => {
    expect(parseHandle(UPLOAD)).toEqual({
      ...{ of: 'upload', owner: 'o'.repeat(22), extension: 'png' },
      uploadId: 'upl_01JD4KXQ8M0000000000000000',
    });
    expect(parseHandle(OUTPUT)).toEqual({
      ...{ of: 'output', requestId: 'img_01JD4KXQ8M0000000000000000', extension: 'jpg' },
      objectKey: OUTPUT,
    });
  });

  test.each([
    'clips/vid_01JD4KXQ8M0000000000000000/0.mp4',
    'uploads/x/upl_1.png',
    'uploads/upl_01JD4KXQ8M0000000000000000.png',
    'outputs/rmv_01JD4KXQ8M0000000000000000/0.jpg',
    'outputs/img_01JD4KXQ8M0000000000000000/0',
    'another/img_01JD4KXQ8M0000000000000000/0.jpg',
    'outputs/img_01JD4KXQ8M0000000000000000/../0.jpg',
    'https://files.example.com/outputs/img_01JD4KXQ8M0000000000000000/0.jpg',
    '',
  ])('is no other text: %s', (text) => {
    expect(parseHandle(text)).toBeUndefined();
  });
});
