import { jest } from '@jest/globals';
import type { Point } from './alarm-evaluator.ts';

// The service writes metrics as in Lambda, for this stack, with the console that this file listens to.
Object.assign(process.env, {
  POWERTOOLS_DEV: 'true',
  POWERTOOLS_METRICS_DISABLED: 'false',
  STACK_NAME: 'GenerationService',
});
export const { countMetric, METRIC, measure } = await import('../../core/observability.ts');

/** What happened, newest first or not. */
export type Story = Point[];

export const MINUTE = 60;
export const HOUR = 3600;
export const DAY = 24 * HOUR;

/** The metrics that the service's own code writes in `run`, as the guide's alarms get them, this long ago. */
export const ours = (secondsAgo: number, run: () => void): Story => {
  const written = jest.spyOn(console, 'log').mockReturnValue(undefined);
  try {
    run();
    return written.mock.calls.flatMap(([line]) => pointsOf(JSON.parse(String(line)), secondsAgo));
  } finally {
    written.mockRestore();
  }
};

interface Embedded {
  _aws: { CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[] };
  [name: string]: unknown;
}

const pointsOf = (line: Embedded, secondsAgo: number): Story =>
  line._aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) =>
      Metrics.map(({ Name }) => ({
        metric: `${Namespace}/${Name} ${names
          .map((name) => `${name}=${line[name]}`)
          .toSorted()
          .join(' ')}`,
        secondsAgo,
        value: Number(line[Name]),
      })),
    ),
  );

/** The same, so often. */
export const times = (count: number, story: (index: number) => Story): Story =>
  Array.from({ length: count }, (_, index) => story(index)).flat();

/** A metric of AWS itself. */
export const aws = (metric: string, value: number, secondsAgo = 10): Story => [{ metric, secondsAgo, value }];

/** Requests that ended in the last minutes, the first ones failed. */
export const ended = (failed: number, all: number, secondsAgo = 10): Story =>
  times(all, (index) =>
    ours(secondsAgo, () => countMetric(METRIC.requestFailed, {}, index < failed ? 1 : 0)),
  );

/** Calls of the API in the last minutes, the first ones answered by a server error. */
export const answered = (failed: number, all: number, secondsAgo = 10): Story =>
  times(all, (index) =>
    aws('AWS/ApiGateway/5XXError ApiName=GenerationService', index < failed ? 1 : 0, secondsAgo),
  );
