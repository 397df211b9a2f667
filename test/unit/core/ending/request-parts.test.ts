import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { requestParts } from '../../../../core/ending/end-rules.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';

const at = (seconds: number): string => atSeconds(seconds).toISOString();
const createdAt = NOW.toISOString();

describe('the parts of a request that ended', () => {
  test('are its queue, its provider until the last call was done, and the storing', () => {
    const request = { createdAt, dispatchedAt: at(3) };
    const attempts = [{ finishedAt: at(9) }, { finishedAt: at(15.5) }];

    expect(requestParts(request, attempts, atSeconds(17))).toEqual({
      totalSeconds: 17,
      queueSeconds: 3,
      providerSeconds: 12.5,
      storingSeconds: 1.5,
    });
  });

  test('are the queue alone when no provider was called', () => {
    expect(requestParts({ createdAt }, [], atSeconds(3600))).toEqual({
      totalSeconds: 3600,
      queueSeconds: 3600,
    });
  });

  test.each([[[{}]], [[{ finishedAt: at(4) }, {}]], [[]]])(
    'end at the provider while a call is open: %j',
    (attempts) => {
      expect(requestParts({ createdAt, dispatchedAt: at(2) }, attempts, atSeconds(602))).toEqual({
        totalSeconds: 602,
        queueSeconds: 2,
        providerSeconds: 600,
      });
    },
  );

  test('add up to the whole, in any order of clocks that agree', () => {
    const seconds = fc.integer({ min: 0, max: 5_000_000 }).map((milliseconds) => milliseconds / 1000);
    fc.assert(
      fc.property(seconds, seconds, seconds, (queue, provider, storing) => {
        const parts = requestParts(
          { createdAt, dispatchedAt: at(queue) },
          [{ finishedAt: at(queue + provider) }],
          atSeconds(queue + provider + storing),
        );
        const { totalSeconds, queueSeconds, providerSeconds = 0, storingSeconds = 0 } = parts;

        expect(queueSeconds + providerSeconds + storingSeconds).toBeCloseTo(totalSeconds, 6);
      }),
    );
  });
});
