import { calculate, type Value } from './alarm-math.ts';
import { type Resource, render } from './service-template.ts';

type Properties = Resource['Properties'];

/** A value of a metric, in seconds before the present. */
export interface Point {
  /** As `metricKey` names it. */
  metric: string;
  secondsAgo: number;
  value: number;
}

export type AlarmState = 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';

/** A metric of a template with its dimensions, in readable form. */
const metricKey = ({ Namespace, MetricName, Dimensions = [] }: Properties): string => {
  const split = Dimensions.map(
    ({ Name, Value: value }: { Name: string; Value: unknown }) => `${Name}=${render(value)}`,
  );
  return `${Namespace}/${MetricName} ${split.toSorted().join(' ')}`;
};

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0;

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const statisticOf = (statistic: string, values: readonly number[]): Value => {
  if (values.length === 0) return undefined;
  const known: Record<string, () => number> = {
    Sum: () => sumOf(values),
    SampleCount: () => values.length,
    Average: () => sumOf(values) / values.length,
    Maximum: () => Math.max(...values),
    Minimum: () => Math.min(...values),
  };
  const share = /^p(\d+)$/.exec(statistic)?.[1];
  if (share !== undefined) return percentile(values, Number(share) / 100);
  const found = known[statistic];
  if (!found) throw new Error(`The statistic ${statistic} is not known.`);
  return found();
};

/** A statistic of a metric by periods. */
interface Series {
  points: readonly Point[];
  statistic: string;
  periodSeconds: number;
}

const pointsOf = (metric: Properties, points: readonly Point[]): Point[] => {
  const key = metricKey(metric);
  return points.filter((point) => point.metric === key);
};

/** The value `periodsAgo`: 0 is the period that ends now. */
const valueAt = ({ points, statistic, periodSeconds }: Series, periodsAgo: number): Value => {
  const from = periodsAgo * periodSeconds;
  const values = points
    .filter(({ secondsAgo }) => secondsAgo >= from && secondsAgo < from + periodSeconds)
    .map(({ value }) => value);
  return statisticOf(statistic, values);
};

const BAND = /^ANOMALY_DETECTION_BAND\((\w+), (\d+)\)$/;
/** AWS's own model learns from up to two weeks, by hour and day. */
const WEEK_SECONDS = 7 * 86_400;
const MIN_LEARNED = 24;

/** The upper edge of what is expected: a stand-in for AWS's model, which is its own. Mean and standard deviation of the week before. */
const upperEdge = (series: Series, from: number, deviations: number): Value => {
  const periods = WEEK_SECONDS / series.periodSeconds;
  const learned = Array.from({ length: periods }, (_, index) => valueAt(series, from + index)).filter(
    (value) => value !== undefined,
  );
  if (learned.length < MIN_LEARNED) return undefined;
  const mean = sumOf(learned) / learned.length;
  const variance = sumOf(learned.map((value) => (value - mean) ** 2)) / learned.length;
  return mean + deviations * Math.sqrt(variance);
};

const COMPARISONS: Record<string, (value: number, threshold: number) => boolean> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
  GreaterThanUpperThreshold: (value, threshold) => value > threshold,
};

interface MathMetric {
  Id: string;
  Expression?: string;
  MetricStat?: { Metric: Properties; Stat: string; Period: number };
}

/** The watched value and its bound at a period; the value is undefined when it is missing. */
type Watch = (periodsAgo: number) => { value: Value; bound: Value };

const watchOf = (alarm: Properties, points: readonly Point[]): Watch => {
  const { EvaluationPeriods, Threshold, ThresholdMetricId } = alarm;
  if (!alarm.Metrics) {
    const statistic = alarm.Statistic ?? alarm.ExtendedStatistic;
    const series = { points: pointsOf(alarm, points), statistic, periodSeconds: alarm.Period };
    return (periodsAgo) => ({ value: valueAt(series, periodsAgo), bound: Threshold });
  }
  const metrics = alarm.Metrics as MathMetric[];
  const found = new Map(
    metrics.flatMap(({ Id, MetricStat: stat }) =>
      stat
        ? [[Id, { points: pointsOf(stat.Metric, points), statistic: stat.Stat, periodSeconds: stat.Period }]]
        : [],
    ),
  );
  const seriesOf = (id: string): Series => {
    const series = found.get(id);
    if (!series) throw new Error(`There is no metric ${id}.`);
    return series;
  };
  const expressions = metrics.flatMap(({ Id, Expression }) => (Expression ? [{ Id, Expression }] : []));
  const [{ Id, Expression } = { Id: '', Expression: '' }, ...more] = expressions;
  if (more.length > 0) throw new Error('Only one expression is known.');
  const band = BAND.exec(Expression);
  if (band) {
    if (Id !== ThresholdMetricId) throw new Error('The threshold is not the band.');
    const series = seriesOf(band[1] ?? '');
    const bound = upperEdge(series, EvaluationPeriods, Number(band[2]));
    return (periodsAgo) => ({ value: valueAt(series, periodsAgo), bound });
  }
  return (periodsAgo) => ({
    value: calculate(Expression, (id) => valueAt(seriesOf(id), periodsAgo)),
    bound: Threshold,
  });
};

/**
 * The state of an alarm of a template with these points, as CloudWatch documents it. It takes the statistics of the periods that end now, looks
 * for M breaching ones of N, and treats missing data as the alarm says.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
 */
export const stateOf = (alarm: Properties, points: readonly Point[]): AlarmState => {
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, TreatMissingData } = alarm;
  const isBreaching = COMPARISONS[alarm.ComparisonOperator];
  if (!isBreaching) throw new Error(`The comparison ${alarm.ComparisonOperator} is not known.`);
  const watch = watchOf(alarm, points);
  const data = Array.from({ length: EvaluationPeriods }, (_, periodsAgo) => watch(periodsAgo));
  const isMissing = ({ value, bound }: ReturnType<Watch>) => value === undefined || bound === undefined;
  if (TreatMissingData === 'missing' && data.every(isMissing)) return 'INSUFFICIENT_DATA';
  const breaching = data.filter(({ value, bound }) =>
    value === undefined || bound === undefined ? TreatMissingData === 'breaching' : isBreaching(value, bound),
  );
  return breaching.length >= DatapointsToAlarm ? 'ALARM' : 'OK';
};

/** Whether an alarm in this state has notified the operator: by its actions in the template. */
export const notifies = (alarm: Properties, state: AlarmState): boolean => {
  const actions = { ALARM: 'AlarmActions', OK: 'OKActions', INSUFFICIENT_DATA: 'InsufficientDataActions' };
  return alarm.ActionsEnabled !== false && (alarm[actions[state]] ?? []).length > 0;
};
