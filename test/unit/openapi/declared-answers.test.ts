/** @jest-environment <rootDir>/test/answers-environment.ts */
import { describe, expect, test } from '@jest/globals';
import { IMAGE_RECORDS, REFUSALS, VIDEO_RECORDS } from '../../../functions/openapi/examples.ts';
import { answersChecked, checkDeclared } from '../../contract/support/declared-answers.ts';

const ID = { 'x-request-id': 'a', 'x-service-version': '1.2.3' };
const CREATED = { ...ID, location: 'https://a.example/v1/generations/img_1', 'retry-after': '5' };
const check = (
  method: string,
  path: string,
  status: number,
  body: unknown,
  headers: Record<string, string> = ID,
) => checkDeclared(method, path, { status, body, headers: new Headers(headers) });

const READ = '/v1/generations/img_01M80FHZVG0RV5YDGY3R1P0Q7G';
const { queued, succeeded } = IMAGE_RECORDS;

describe('an answer as the document declares it passes', () => {
  test.each([
    ['GET', READ, 200, succeeded, ID],
    ['GET', READ, 200, queued, { ...ID, 'retry-after': '5' }],
    ['GET', '/v1/videos/vid_1?x=1', 200, VIDEO_RECORDS.failed, ID],
    ['POST', '/v1/generations', 202, queued, CREATED],
    ['POST', '/v1/generations', 202, queued, { ...CREATED, 'idempotency-replayed': 'true' }],
    ['GET', READ, 404, REFUSALS.not_found, ID],
    ['GET', '/v1/balance', 429, REFUSALS.rate_limited, { ...ID, 'retry-after': '1' }],
    ['GET', '/v1/balance', 500, REFUSALS.internal_error, ID],
    ['GET', '/v1/balance', 500, REFUSALS.internal_error, { ...ID, 'retry-after': '2' }],
  ])('%s %s %i', (method, path, status, body, headers) => {
    const before = answersChecked();
    check(method, path, status, body, headers);

    expect(answersChecked()).toBe(before + 1);
  });

  test('and one to a call that is no operation is not looked at', () => {
    const before = answersChecked();
    check('PUT', READ, 404, REFUSALS.not_found);
    check('GET', '/v1/nothing', 404, REFUSALS.not_found);
    // The gateway chooses the path before the method: this is no read of a request with that id.
    check('GET', '/v1/generations/bulk-delete', 404, REFUSALS.not_found, { ...ID, allow: 'POST' });

    expect(answersChecked()).toBe(before);
  });
});

describe('an answer is refused', () => {
  const { images: _images, ...incomplete } = succeeded as typeof succeeded & { images: unknown };
  const [item] = (succeeded as { images: object[] }).images;
  const withFields = { error: { ...REFUSALS.not_found.error, fields: {} } };
  const withBoth = { ...succeeded, images: [{ ...item, error: { code: 'storage_failed' } }] };
  const inSeconds = { ...queued, createdAt: '2026-11-22T01:57:28Z' };
  const halfASecond = { ...ID, 'retry-after': '0.5' };
  test.each<[what: string, ...Parameters<typeof check>]>([
    ['with a status of another operation', 'GET', '/v1/balance', 404, REFUSALS.not_found],
    ['with a status of none', 'GET', READ, 418, REFUSALS.not_found],
    ['with the code of another status', 'GET', READ, 404, REFUSALS.conflict],
    ['with a code of records', 'GET', READ, 500, REFUSALS.provider_error],
    ['with fields that only a validation error has', 'GET', READ, 404, withFields],
    ['with a field that is not declared', 'GET', READ, 200, { ...succeeded, accountId: 'acc_1' }],
    ['with the fields of another status', 'GET', READ, 200, { ...IMAGE_RECORDS.processing, cost: 1 }],
    ['without a field', 'GET', READ, 200, incomplete],
    ['with a rate inside', 'GET', '/v1/models', 200, { data: [{ perImage: 1 }] }],
    ['with an item that has both a URL and an error', 'GET', READ, 200, withBoth],
    ['with an instant without milliseconds', 'GET', READ, 200, inSeconds],
    ['with a record that a creation does not answer', 'POST', '/v1/generations', 202, succeeded, CREATED],
    ['without a header', 'POST', '/v1/generations', 202, queued, ID],
    ['without a request id', 'GET', READ, 200, succeeded, {}],
    ['with a wait of no whole seconds', 'GET', READ, 429, REFUSALS.rate_limited, halfASecond],
    ['with a header that is not declared', 'GET', READ, 200, succeeded, { ...ID, location: '/' }],
  ])('%s', (_what, ...answer) => {
    expect(() => check(...answer)).toThrow(/^(GET|POST) \/v1\//);
  });
});
