import { describe, expect, test } from '@jest/globals';
import { classify, type ErrorClass, takenByStatus } from '../../../providers/error-classes.ts';
import { ARK_ERRORS } from '../../../providers/modelark/errors.ts';
import { MODEL_STUDIO_ERRORS } from '../../../providers/modelstudio/errors.ts';

const STATUSES = Array.from({ length: 500 }, (_, index) => index + 100);

describe('the HTTP status of an error whose code tells nothing', () => {
  const CLASSES = new Map<number, ErrorClass>([
    [429, 'throttled'],
    ...[401, 402, 403, 404].map((status): [number, ErrorClass] => [status, 'access']),
    ...[400, 413, 414, 415, 422, 451].map((status): [number, ErrorClass] => [status, 'input']),
  ]);

  test('names throttling, our access and the input, and nothing else', () => {
    for (const errors of [ARK_ERRORS, MODEL_STUDIO_ERRORS])
      for (const status of STATUSES)
        expect([status, classify(errors, { code: 'Xyz' }, status).errorClass]).toEqual([
          ...[status, CLASSES.get(status) ?? 'error'],
        ]);
  });
});

describe('a creation that is answered with an error', () => {
  test('was not taken where the status says so, may have been from 500 on, and was below 400', () => {
    const open = new Set([408, 499]);
    for (const status of STATUSES) {
      const taken = status < 400 ? 'yes' : status < 500 && !open.has(status) ? 'no' : 'unknown';
      expect([status, takenByStatus(status)]).toEqual([status, taken]);
    }
  });

  test.each<[string, number, boolean]>([
    ['Throttling', 503, true],
    ['Throttling', 500, false],
    ['ModelServingError', 500, true],
    ['ModelServingError', 503, true],
    ['ModelServingError', 502, false],
    ['ModelUnavailable', 503, true],
    ['ModelUnavailable', 500, false],
    ['LimitRequests', 503, false],
  ])('of Model Studio, %s with %i, was surely not taken: %p', (code, status, isNotTaken) => {
    expect(classify(MODEL_STUDIO_ERRORS, { code }, status)).toEqual(
      isNotTaken ? { errorClass: 'throttled', isNotTaken } : { errorClass: 'error' },
    );
  });

  test.each<[number | undefined, ErrorClass]>([
    [429, 'quota'],
    [400, 'access'],
    [403, 'access'],
    [undefined, 'access'],
    [500, 'error'],
    [503, 'error'],
  ])('of ModelArk for a quota, with %p, is %s: only the quota of a 429 comes back', (status, errorClass) => {
    expect(classify(ARK_ERRORS, { code: 'QuotaExceeded' }, status)).toEqual({ errorClass });
  });
});
