import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { failureOfWorkflow } from '../../../../core/ending/workflow-failure.ts';
import { logger } from '../../../../core/observability.ts';

const logged = jest.spyOn(logger, 'error');
beforeEach(() => {
  logged.mockClear();
});

const FOUND = { code: 'content_policy', message: 'refused' } as const;
const UNEXPECTED = {
  code: 'internal_error',
  message: 'Something unexpected went wrong on our side.',
} as const;
describe('the failure a request ends with', () => {
  type Execution = Parameters<typeof failureOfWorkflow>[0];
  const failureOf = (
    result: NonNullable<Execution['step']>['result'] | undefined,
    failure?: Execution['failure'],
  ) => failureOfWorkflow({ step: result && { result }, failure });
  const caught = { Error: 'TypeError', Cause: 'secret detail' };

  test.each([undefined, caught])('is that of the last step, also after an earlier error: %j', (earlier) => {
    expect(failureOf({ next: 'fail', error: FOUND }, earlier)).toEqual(FOUND);
    expect(logged).not.toHaveBeenCalled();
  });

  test.each([
    ['storing failed', { next: 'store' }],
    ['the last step itself failed on our side', { next: 'fail', error: UNEXPECTED }],
    ['the last step is unknown', { next: 'dance' }],
  ] as const)('says nothing about an error of ours, which is logged: %s', (_, step) => {
    expect(failureOf(step, caught)).toEqual(UNEXPECTED);
    expect(logged.mock.calls).toMatchObject([
      ['workflow step failed', { next: step.next, errorName: 'TypeError', cause: 'secret detail' }],
    ]);
  });

  test.each([undefined, { next: 'fail' }, { next: 'wait' }])(
    'is unexpected without any reason: %j',
    (step) => {
      expect(failureOf(step)).toEqual(UNEXPECTED);
      expect(logged).toHaveBeenCalledTimes(1);
    },
  );
});
