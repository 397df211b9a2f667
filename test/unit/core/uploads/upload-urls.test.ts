import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ownerOf, uploadProblem } from '../../../../core/uploads/upload-urls.ts';

const FILES = 'https://d111111abcdef8.cloudfront.net';
const NOW = new Date('2026-11-23T12:00:00.000Z');
const [MINE, THEIRS] = ['acc_01JD4KXQ8M0000000000000000', 'acc_01JD4KXQ8M0000000000000001'];
const [IN_TIME, LATE] = [NOW.getTime() / 1000 + 1, NOW.getTime() / 1000];
const problemOf = (url: string, filesUrl = FILES): string | undefined =>
  uploadProblem(url, MINE, filesUrl, NOW);

describe('the URL of an upload', () => {
  const own = `uploads/${ownerOf(MINE)}/upl_1.png?Expires=${IN_TIME}&Signature=x`;
  const other = `uploads/${ownerOf(THEIRS)}/upl_1.png?Expires=${IN_TIME}&Signature=x`;

  test('can be used by the account that uploaded it, until it expires', () => {
    expect(problemOf(`${FILES}/${own}`)).toBeUndefined();
    expect(problemOf(`${FILES}/${own}`.replace(`${IN_TIME}`, `${LATE}`))).toBe(
      'is an upload that has expired',
    );
    expect(problemOf(`${FILES}/${own}`.replace(/\?.*/, ''))).toBe('is an upload that has expired');
  });

  test.each([
    ['as it is', `${FILES}/${other}`],
    ['with a host in capitals', `${FILES.toUpperCase()}/${other}`],
    ['with a dot after the host', `${FILES}./${other}`],
    ['with the port', `${FILES}:443/${other}`],
    ['with an escape', `${FILES}/%75ploads%2F${other.slice(8)}`],
    ['with an escape of the slash', `${FILES}/${other.replaceAll('/', '%2F')}`],
    ['with two slashes', `${FILES}//${other.replace('/', '//')}`],
    ['by way of another folder', `${FILES}/outputs/%2e%2e/${other}`],
    ['by way of an own upload', `${FILES}/uploads/${ownerOf(MINE)}/../../${other}`],
  ])('cannot be used by another account, written %s', (_, url) => {
    expect(problemOf(url)).toBe('is an upload of another account');
  });

  test('is known where the files have a path of their own', () => {
    expect(problemOf(`http://127.0.0.1:3000/files/${other}`, 'http://127.0.0.1:3000/files')).toBe(
      'is an upload of another account',
    );
    expect(problemOf(`http://127.0.0.1:3000/files/${own}`, 'http://127.0.0.1:3000/files/')).toBeUndefined();
  });

  test.each([
    'https://example.com/uploads/x/a.png',
    `${FILES}/outputs/9f86/0.jpg?Expires=1`,
    `${FILES}/uploads`,
    'https://d111111abcdef8.cloudfront.net:8443/uploads/x/a.png',
  ])('is no other URL: %s', (url) => {
    expect(problemOf(url)).toBeUndefined();
  });

  test('never shows the account, and is of one account only', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (one, another) => {
        expect(ownerOf(one) === ownerOf(another)).toBe(one === another);
        expect(ownerOf(one)).toMatch(/^[\w-]{22}$/);
      }),
    );
  });

  test('of anything else throws nothing', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
        expect(problemOf(url)).toBeUndefined();
      }),
    );
    expect(problemOf('no URL')).toBeUndefined();
    expect(problemOf(`${FILES}/uploads/%zz`)).toBeUndefined();
  });
});
