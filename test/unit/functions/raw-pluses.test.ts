import { describe, expect, test } from '@jest/globals';
import type { ValidationError } from '../../../core/errors.ts';
import { ApiRequest } from '../../../functions/http/api-request.ts';
import { END_USERS_QUERY } from '../../../functions/http/queries.ts';
import { REQUESTS_QUERIES } from '../../../functions/http/request-queries.ts';
import { anApiEvent } from '../builders/api-events.ts';
import { NOW } from '../builders/clocks.ts';

/** The query as API Gateway decodes it: a raw plus sign is a blank. */
const queryOf = (raw: string): ApiRequest => {
  const query: Record<string, string[]> = {};
  for (const [name, value] of new URLSearchParams(raw)) query[name] = [value];
  return new ApiRequest(anApiEvent({ query }), NOW);
};
const endUsers = (raw: string) => queryOf(raw).query(END_USERS_QUERY).email;
const requests = (raw: string, kind: 'image' | 'video' = 'image') =>
  queryOf(raw).query(REQUESTS_QUERIES[kind]);

describe('a plus sign that a query has not encoded', () => {
  test.each([
    ['kim+work', 'kim+work'],
    ['kim%2Bwork', 'kim+work'],
    ['+work@', '+work@'],
    ['kim%20work', 'kim+work'],
    ['kim', 'kim'],
  ])('is one in a part of an address: %s', (raw, email) => {
    expect(endUsers(`email=${raw}`)).toBe(email);
  });

  test.each(['image', 'video'] as const)('is one in an end-user of %s requests', (kind) => {
    expect(requests('endUserEmail=Kim+work@Example.com', kind).endUserEmail).toBe('kim+work@example.com');
    expect(requests('endUserEmail=%20kim@example.com+', kind).endUserEmail).toBe('kim@example.com');
  });

  test.each(['createdAfter', 'createdBefore'])('in %s is refused, and how to write it is said', (field) => {
    const refusalOf = (raw: string): unknown => {
      try {
        return requests(`${field}=${raw}`);
      } catch (error) {
        return (error as ValidationError).fields[field];
      }
    };

    for (const raw of ['2026-11-01T00:00:00+02:00', '2026-11-01T00:00+0200', '2026-11-01T00:00:00.5+14:00'])
      expect(refusalOf(raw)).toBe('must have the + of its time zone written as %2B');
    for (const raw of ['2026-11-01+', '2026-11-01T00:00:00+nowhere', 'a+b'])
      expect(refusalOf(raw)).toBe('must be an ISO 8601 date, or date-time with a time zone');
    expect(refusalOf('2026-11-01T00:00:00%2B02:00')).toMatchObject({ [field]: '2026-10-31T22:00:00.000Z' });
  });
});
