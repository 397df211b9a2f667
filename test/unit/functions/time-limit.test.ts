import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../core/observability.ts';
import { handler as reconcile } from '../../../functions/events/reconcile.ts';
import { handler as reconcileLost } from '../../../functions/events/reconcile-lost.ts';
import { apiHandler } from '../../../functions/http/api-handler.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { REQUEST_ID } from '../builders/entities.ts';
import { memory } from '../fakes/fresh-table.ts';
import '../fakes/fresh-executions.ts';

const logged = jest.spyOn(logger, 'error');
beforeEach(() => {
  logged.mockClear();
  // A table that never answers.
  memory.client.callsFake(() => new Promise(() => undefined));
});

/** A function's context with this time left when it begins. */
const withLeft = (milliseconds: number) => ({
  ...aLambdaContext(),
  getRemainingTimeInMillis: () => milliseconds,
});
const OUT_OF_TIME = 'the function ran out of time';

describe('a route that is not done 2 s before its time limit', () => {
  test('is answered in the format of the API', async () => {
    const never = apiHandler(() => new Promise(() => undefined));

    expect(read(await never(anApiEvent(), withLeft(2_010)))).toEqual({
      status: 500,
      headers: {
        'Content-Type': 'application/json',
        'X-Content-Type-Options': 'nosniff',
        'X-Request-Id': 'http-request-1',
        'X-Service-Version': '1.2.3',
      },
      body: {
        error: { code: 'internal_error', message: 'Something unexpected went wrong on our side.' },
      },
    });
    expect(logged.mock.calls).toEqual([[OUT_OF_TIME]]);
  });
});

test('the report of a lost execution is delivered again when its function is not done 1 s before its time limit', async () => {
  const detail = {
    status: 'FAILED',
    stateMachineArn: 'any',
    name: REQUEST_ID,
    stopDate: 1_795_000_060_000,
    input: JSON.stringify({ requestId: REQUEST_ID }),
  };

  await expect(reconcileLost({ detail }, withLeft(1_010))).rejects.toThrow('The function ran out of time.');
});

describe('a function of an event that is not done 1 s before its time limit', () => {
  test('is logged and ends, for the next run to go on: reconcile', async () => {
    await expect(reconcile({ everySeconds: 60 }, withLeft(1_010))).resolves.toBeUndefined();

    expect(logged.mock.calls).toEqual([[OUT_OF_TIME]]);
  });
});
