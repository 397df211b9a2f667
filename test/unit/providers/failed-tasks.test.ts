import { afterAll, describe, expect, test } from '@jest/globals';
import {
  failedTask,
  failureOfAll,
  refusedCreation,
  saysLater,
  untoldTask,
} from '../../../providers/failures.ts';
import { FAL_ERRORS } from '../../../providers/fal/errors.ts';
import type { Answered } from '../../../providers/http.ts';
import { ARK_ERRORS } from '../../../providers/modelark/errors.ts';
import { metricsCounted } from '../fakes/metrics.ts';
import { FAILURE, server } from './conformance/server.ts';

afterAll(() => server.close());

const answered = (status: number, body: unknown = {}): Answered => ({ kind: 'answered', status, body });

describe('a task that failed', () => {
  test.each([
    ['AccountOverdueError', ['ProviderAccessRefused']],
    ['InvalidParameter.image', ['ProviderInputRefused']],
    ['InternalServiceError', []],
    ['OutputVideoSensitiveContentDetected', []],
  ])('by %s counts for the operator: %j', (code, metrics) => {
    const counted = metricsCounted();
    failedTask('modelark', { code }, ARK_ERRORS, answered(200));

    expect(counted()).toEqual(metrics.map((name) => [name, { provider: 'modelark' }]));
  });

  test.each([
    [200, FAILURE.error],
    [400, FAILURE.input],
    [422, FAILURE.input],
    [403, FAILURE.access],
    [504, FAILURE.timeout],
  ])('by a code that tells nothing has failed by the status of its result: %i', (status, failure) => {
    const told = failedTask('fal', { code: 'xyz' }, FAL_ERRORS, answered(status));

    expect(told).toMatchObject({ kind: 'failed', failure });
  });

  test('of which no answer came has failed by its code alone', () => {
    expect(failedTask('fal', { code: 'xyz' }, FAL_ERRORS, { kind: 'timed-out' })).toMatchObject({
      ...{ failure: FAILURE.error, upstream: { code: 'xyz' } },
    });
  });
});

describe('a query that tells nothing of its task', () => {
  const query = (status: number, code: string) =>
    untoldTask('modelark', answered(status), { code, message: 'why' }, ARK_ERRORS);

  test.each<[number, string, string]>([
    [405, 'Xyz', 'busy'],
    [500, 'InternalServiceError', 'busy'],
    [400, 'RateLimitExceeded', 'busy'],
    [429, 'AccountOverdueError', 'busy'],
    [403, 'AccountOverdueError', 'refused'],
    [400, 'InvalidParameter', 'refused'],
    [400, 'InputTextSensitiveContentDetected', 'refused'],
  ])('is answered with %i %s: %s', (status, code, kind) => {
    expect(query(status, code)).toMatchObject({ kind });
  });

  test('is lost if that goes on where the query itself is refused, but not where our access is', () => {
    expect(query(400, 'InvalidParameter')).toEqual({ kind: 'refused', failure: FAILURE.lost });
    expect(query(403, 'AccessDenied')).toEqual({ kind: 'refused' });
  });

  test('is repeated later with a status that says so, and no other', () => {
    const later = Array.from({ length: 500 }, (_, index) => index + 100).filter(saysLater);

    expect(later).toEqual([408, 425, 429, ...Array.from({ length: 100 }, (_, index) => index + 500)]);
  });
});

describe('a creation that was refused', () => {
  const create = (status: number, code: string) =>
    refusedCreation('modelark', answered(status), { code }, ARK_ERRORS);

  test('for our access may go elsewhere where it was surely not taken', () => {
    expect(create(403, 'AccessDenied')).toMatchObject({ taken: 'no', obstacle: 'access' });
    expect(create(500, 'AccessDenied')).toMatchObject({ taken: 'unknown' });
    expect(create(500, 'AccessDenied')).not.toHaveProperty('obstacle');
    expect(create(400, 'InvalidParameter')).not.toHaveProperty('obstacle');
  });

  test('for a quota may be repeated once, for throttling as often as it takes', () => {
    expect(create(429, 'QuotaExceeded')).toMatchObject({ kind: 'busy', ifRepeated: FAILURE.access });
    expect(create(429, 'RateLimitExceeded')).not.toHaveProperty('ifRepeated');
    expect(create(429, 'RateLimitExceeded')).not.toHaveProperty('upstream');
  });
});

describe('the failure of a call without an output', () => {
  const [first, second] = [FAILURE.access, FAILURE.timeout];

  test('is a content decision, else the first', () => {
    const failures = [{ failure: first }, { failure: second }];

    expect(failureOfAll(failures)).toEqual(first);
    expect(failureOfAll([...failures, { failure: FAILURE.output }])).toEqual(FAILURE.output);
    expect(failureOfAll([{ url: 'https://a' }, { failure: second }])).toEqual(second);
    expect(failureOfAll([])).toEqual(FAILURE.error);
  });
});
