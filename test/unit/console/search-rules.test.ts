import { describe, expect, test } from '@jest/globals';
import {
  type Filters,
  holdsText,
  isAskedFor,
  queryOf,
  readSearchText,
} from '../../../console/requests/search-rules.ts';

const ID = 'vid_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const NONE: Filters = { text: '', status: '', type: '', model: '', user: '', from: '', to: '' };
const typeOfModel = (model: string) => (model === 'xW3.0s' ? 'video' : 'image');
const queried = (filters: Partial<Filters>) => queryOf({ ...NONE, ...filters }, typeOfModel);

describe('a search text', () => {
  test.each([
    ['', { kind: 'none' }],
    ['  ', { kind: 'none' }],
    [` ${ID.toLowerCase()} `, { kind: 'id', requestId: ID }],
    ['ada@example.com', { kind: 'endUser', email: 'ada@example.com' }],
    ['ada@exam', { kind: 'text', text: 'ada@exam' }],
    ['a lighthouse', { kind: 'text', text: 'a lighthouse' }],
    ['img_01', { kind: 'text', text: 'img_01' }],
  ])('%j is %j', (text, meaning) => {
    expect(readSearchText(text)).toEqual(meaning);
  });

  test('is found in what people see of a request, in any case', () => {
    const record = {
      ...{ requestId: ID, model: 'xW3.0s', prompt: 'A Lighthouse', endUserEmail: 'ada@example.com' },
      ...{ createdAt: '2026-11-22T09:00:00.000Z', status: 'processing' as const },
    };

    expect(['lightHOUSE', 'ADA@', 'xw3', ID].every((text) => holdsText(record, text))).toBe(true);
    expect(holdsText(record, 'harbour')).toBe(false);
  });
});

describe('what the service is asked for', () => {
  test('is everything without filters', () => {
    expect(new Set(Object.values(queried({})))).toEqual(new Set(['']));
  });

  test('has the end-user of a search, and the kind of a model', () => {
    expect(
      queried({ text: 'ada@example.com', status: 'failed', model: 'xW3.0s', type: 'image' }),
    ).toMatchObject({
      ...{ endUserEmail: 'ada@example.com', status: 'failed', model: 'xW3.0s', type: 'video' },
    });
    expect(queried({ text: 'a lighthouse', type: 'image' })).toMatchObject({
      endUserEmail: '',
      type: 'image',
    });
  });

  test('holds both days of a range in full', () => {
    const { createdAfter, createdBefore } = queried({ from: '2026-11-21', to: '2026-11-22' });

    expect(createdAfter).toBe(new Date(new Date(2026, 10, 21).getTime() - 1).toISOString());
    expect(createdBefore).toBe(new Date(2026, 10, 23).toISOString());
    expect(queried({ from: 'yesterday' }).createdAfter).toBe('');
  });
});

describe('an end-user as a filter', () => {
  test('is asked for where it is an address; a search for an address comes first', () => {
    expect(queried({ user: ' ada@example.com ' }).endUserEmail).toBe('ada@example.com');
    expect(queried({ user: 'ada' }).endUserEmail).toBe('');
    expect(queried({ user: 'ada@example.com', text: 'bob@example.com' }).endUserEmail).toBe(
      'bob@example.com',
    );
  });

  test.each([
    ['ada', '', true],
    ['ADA@', 'lighthouse', true],
    ['ada', 'submarine', false],
    ['bob', '', false],
  ])('%j with the text %j finds the request of ada: %j', (user, text, isFound) => {
    const record = {
      ...{ requestId: ID, prompt: 'a lighthouse', model: 'xW3.0s', endUserEmail: 'ada@example.com' },
    } as Parameters<typeof isAskedFor>[0];

    expect(isAskedFor(record, { user, text })).toBe(isFound);
  });
});
