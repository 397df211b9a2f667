import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger, METRIC, readable } from '../../../core/observability.ts';
import { metricsCounted } from '../fakes/metrics.ts';

const error = jest.spyOn(logger, 'error');
beforeEach(() => {
  error.mockReset();
});

describe('items of a page', () => {
  test('that can be read are kept in their order; any other is left out, logged and counted', () => {
    const counted = metricsCounted();
    const read = (item: number): string => {
      if (item % 2 === 0) throw new Error('even');
      return `read ${item}`;
    };

    expect(readable([1, 2, 3, 4, 5], read, (item) => `item ${item}`)).toEqual(['read 1', 'read 3', 'read 5']);

    expect(error.mock.calls).toEqual(
      [2, 4].map((item) => [
        'an item could not be read',
        { item: `item ${item}`, error: expect.objectContaining({ message: 'even' }) },
      ]),
    );
    expect(counted()).toEqual([
      [METRIC.itemUnreadable, {}],
      [METRIC.itemUnreadable, {}],
    ]);
  });
});
