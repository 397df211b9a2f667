import '../../builders/environment.ts';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../../core/observability.ts';
import { type CaughtError, failureOfWorkflow } from '../../../../core/workflow/workflow-failures.ts';

const logged = jest.spyOn(logger, 'error');
beforeEach(() => {
  logged.mockClear();
});

const FOUND = { code: 'content_policy', message: 'refused' } as const;
const UNEXPECTED = { code: 'internal_error', message: 'Something unexpected went wrong on our side.' };
const BUSY = { code: 'provider_error', message: 'The upstream provider did not take the request.' };
const LATE = { code: 'provider_timeout', message: 'The upstream provider did not finish in time.' };

describe('the failure a request ends with', () => {
  test('is that of the last step', () => {
    expect(failureOfWorkflow({ next: 'fail', error: FOUND }, undefined)).toEqual(FOUND);
    expect(logged).not.toHaveBeenCalled();
  });

  test.each([
    ['ProviderCallInFlightError', BUSY],
    ['States.Timeout', LATE],
  ])('is known for the expected error %s', (name, failure) => {
    for (const step of [undefined, { next: 'wait' }, { next: 'fail', error: FOUND }]) {
      expect(failureOfWorkflow(step, { Error: name, Cause: 'details' })).toEqual(failure);
    }
    expect(logged).not.toHaveBeenCalled();
  });

  test.each<[CaughtError]>([
    [{ Error: 'Error', Cause: 'secret detail' }],
    [{ Error: 'Lambda.Unknown', Cause: 'secret detail' }],
    [{ Error: 'constructor', Cause: 'secret detail' }],
  ])('says nothing about an unexpected error, which is logged: %j', (caught) => {
    expect(failureOfWorkflow(undefined, caught)).toEqual(UNEXPECTED);
    expect(logged.mock.calls).toMatchObject([
      ['workflow step failed', { errorName: caught.Error, cause: 'secret detail' }],
    ]);
  });

  test('is ours when the time limit passed while storing', () => {
    expect(failureOfWorkflow({ next: 'store' }, { Error: 'States.Timeout' })).toEqual(UNEXPECTED);
    expect(logged).toHaveBeenCalledTimes(1);
  });

  test.each([undefined, { next: 'fail' }, { next: 'wait' }])(
    'is unexpected without any reason: %j',
    (step) => {
      expect(failureOfWorkflow(step, undefined)).toEqual(UNEXPECTED);
      expect(logged).toHaveBeenCalledTimes(1);
    },
  );
});
