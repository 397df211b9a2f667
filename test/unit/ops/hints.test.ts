import { describe, expect, test } from '@jest/globals';
import { ConflictError, NotFoundError } from '../../../core/errors.ts';
import { hintFor } from '../../../ops/hints.ts';
import { TargetError } from '../../../ops/target.ts';

const named = (name: string, code?: string): Error =>
  Object.assign(new Error('It failed.'), { name, ...(code && { code }) });

describe('what to do after an error', () => {
  test.each([
    [new TargetError('none'), /npm start.*--stack/],
    [new NotFoundError('There is no request img_1.'), /requests list/],
    [new NotFoundError('There is no account acc_1.'), /accounts list/],
    [new NotFoundError('There is no model xW9.'), /models list/],
    [new NotFoundError('There is no key key_1.'), /keys list/],
    [new ConflictError('Request img_1 has already failed.'), /requests show/],
    [new ConflictError('The balance is 5: an operator cannot raise it above 1000000000.'), /lower --amount/],
    [named('AccessDeniedException'), /may not/],
    [named('ExpiredToken'), /get-caller-identity/],
    [named('CredentialsProviderError'), /get-caller-identity/],
    [named('ResourceNotFoundException'), /--stack/],
    [named('ThrottlingException'), /in a minute/],
    [named('Error', 'ECONNREFUSED'), /npm start/],
  ])('%s', (error, hint) => {
    expect(hintFor(error)).toMatch(hint);
  });

  test.each([
    new NotFoundError('Request img_1 of account acc_1 was deleted at 2026-11-20T09:00:00.000Z.'),
    new NotFoundError('There is no request img_1 any more: it is past its retention.'),
    new TypeError('x is not a function'),
  ])('nothing when its message says it, or nothing helps: %s', (error) => {
    expect(hintFor(error)).toBe('');
  });
});
