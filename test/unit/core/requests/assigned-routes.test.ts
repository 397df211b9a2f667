import { describe, expect, test } from '@jest/globals';
import {
  type Assignment,
  type ImageRequest,
  isDueSoon,
  type StoredRequest,
} from '../../../../core/requests/request-rules.ts';
import { assignRoute } from '../../../../core/requests/requests.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { anImageRequest, putRequest, REQUEST_ID } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

const stored = () => memory.get(requestKey(REQUEST_ID));
const given = (overrides: Partial<ImageRequest> = {}): StoredRequest => {
  const request = anImageRequest(overrides);
  putRequest(memory, request);
  return request;
};
const ASSIGNED: Assignment = { route: 'fal/one', number: 2 };
const CLAIMED: Assignment = { ...ASSIGNED, claimId: 'ours' };

describe('assigning a request a route', () => {
  test.each<[string, Partial<ImageRequest>, Assignment, string[]]>([
    ['the first', {}, { route: 'fal/two', number: 1 }, []],
    ['another', { assignment: ASSIGNED }, { route: 'fal/two', number: 3 }, ['fal/one']],
    [
      'another, with calls that were claimed,',
      { assignment: CLAIMED, status: 'processing' },
      { route: 'fal/two', number: 3 },
      ['fal/one'],
    ],
    [
      'a former one',
      { assignment: ASSIGNED, formerRoutes: ['fal/two', 'fal/zero', 'fal/one'] },
      { route: 'fal/two', number: 3 },
      ['fal/zero', 'fal/one'],
    ],
  ])(
    '%s counts the assignment and keeps the routes before it, each once',
    async (_, before, assignment, former) => {
      const request = given(before);

      expect(await assignRoute(request, 'fal/two')).toEqual(assignment);
      expect(stored()).toMatchObject({ assignment, formerRoutes: former });
    },
  );

  test.each<[string, Assignment | undefined, object]>([
    ['has succeeded', ASSIGNED, { status: 'succeeded' }],
    ['has failed', undefined, { status: 'failed' }],
    ['was assigned its first route', undefined, { assignment: { route: 'fal/three', number: 1 } }],
    ['was assigned the same route once more', ASSIGNED, { assignment: { ...ASSIGNED, number: 3 } }],
    ['has its first calls claimed', ASSIGNED, { assignment: CLAIMED }],
    ['has calls claimed by another run', CLAIMED, { assignment: { ...CLAIMED, claimId: 'theirs' } }],
  ])('changes nothing once the request %s', async (_, assignment, change) => {
    const request = given(assignment && { assignment });
    memory.patch(requestKey(REQUEST_ID), change);
    const before = structuredClone(stored());

    expect(await assignRoute(request, 'fal/two')).toBeUndefined();
    expect(stored()).toEqual(before);
  });

  test('brings no removed request back', async () => {
    expect(await assignRoute(anImageRequest(), 'fal/two')).toBeUndefined();
    expect(stored()).toBeUndefined();
  });
});

test.each([
  [-1, true],
  [60, true],
  [60.001, false],
])('a request that is due in %p s is checked soon: %p', (seconds, expected) => {
  expect(isDueSoon({ GSI1SK: atSeconds(seconds).toISOString() }, NOW)).toBe(expected);
});

test('a request that is in no list is not checked soon', () => {
  expect(isDueSoon({}, NOW)).toBe(false);
});
