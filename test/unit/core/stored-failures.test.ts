import { expect, test } from '@jest/globals';
import { StoredFailure } from '../../../core/errors.ts';

const failure = { code: 'provider_error', message: 'It broke.' };
const read = (input: object) => StoredFailure.parse({ ...failure, input }).input;

test.each([
  ...['unfetched', 'slow', 'unreadable', 'small', 'large', 'size'],
  ...['format', 'duration', 'ratio', 'rate', 'value', 'content'],
])('an input that was refused as %s is read as it is stored', (reason) => {
  const input = { reason, status: 404, field: 'references[0]' };

  expect(read(input)).toEqual(input);
});

test.each(['image', 'video', 'audio'])('an input of the medium %s is read as it is stored', (medium) => {
  expect(read({ reason: 'value', file: 1, medium })).toEqual({ reason: 'value', file: 1, medium });
});

test('an input fault or a code of another version is read as none, or as ours', () => {
  expect(read({ reason: 'taste' })).toBeUndefined();
  expect(StoredFailure.parse({ ...failure, code: 'quota_exceeded' })).toMatchObject({
    ...{ code: 'internal_error', message: 'It broke.' },
  });
});
