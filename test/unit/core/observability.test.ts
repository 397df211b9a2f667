import { beforeEach, describe, expect, jest, test } from '@jest/globals';

process.env.POWERTOOLS_METRICS_DISABLED = 'false';
// Metrics are then written with the console that a test can listen to.
process.env.POWERTOOLS_DEV = 'true';
process.env.STACK_NAME = 'SecondStack';
process.env.SERVICE_VERSION = '7.8.9';
const { countMetric, logger, METRIC, measure } = await import('../../../core/observability.ts');

const written = jest.spyOn(console, 'log').mockReturnValue(undefined);
beforeEach(() => {
  written.mockClear();
});

/** What was counted, in the form CloudWatch reads from the log. */
const counted = () => written.mock.calls.map(([line]) => JSON.parse(String(line)));

describe('a metric', () => {
  test('is written at once, in the namespace and by the dimensions that alarms look at', () => {
    countMetric(METRIC.requestCreated, { model: 'xQI3Pro' });

    expect(counted()).toMatchObject([
      {
        _aws: {
          CloudWatchMetrics: [
            {
              Namespace: 'GenerationService',
              Dimensions: [['service', 'model']],
              Metrics: [{ Name: 'RequestsCreated', Unit: 'Count' }],
            },
          ],
        },
        service: 'SecondStack',
        model: 'xQI3Pro',
        RequestsCreated: 1,
      },
    ]);
  });

  test.each([
    ['WorkOverdue', 'Seconds', 12.5],
    ['OldestOpenRequest', 'Seconds', 0],
    ['XTokensHeld', 'None', 0.004],
  ] as const)('can be a value: %s in %s', (name, unit, value) => {
    measure(name, {}, value);

    expect(counted()).toMatchObject([
      { _aws: { CloudWatchMetrics: [{ Metrics: [{ Name: name, Unit: unit }] }] }, [name]: value },
    ]);
  });

  test('compiles only with exactly its dimensions', () => {
    // @ts-expect-error: one that it does not have
    countMetric(METRIC.webhookGivenUp, { reason: 'gone' });
    // @ts-expect-error: one more than it has
    countMetric(METRIC.requestCreated, { model: 'xQI3Pro', outcome: 'failed' });
    // @ts-expect-error: one missing
    countMetric(METRIC.requestEnded, { model: 'xQI3Pro' });
    // @ts-expect-error: another one
    measure(METRIC.oldestWaitingOfRoute, { model: 'xQI3Pro' }, 1);

    expect(counted()).toHaveLength(4);
  });
});

describe('a log line', () => {
  test("has the service's version, also after a call's own keys were taken away", () => {
    logger.setLogLevel('INFO');
    const lines = jest.spyOn(console, 'info').mockReturnValue(undefined);

    logger.appendKeys({ route: '/a' });
    logger.info('one');
    logger.resetKeys();
    logger.info('two');

    expect(lines.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
      { message: 'one', service: 'SecondStack', version: '7.8.9', route: '/a' },
      { message: 'two', service: 'SecondStack', version: '7.8.9' },
    ]);
  });
});
