import {
  Alarm,
  type AlarmProps,
  AnomalyDetectionAlarm,
  ComparisonOperator,
  type IMetric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

/** When an alarm rings: by default at 1 or more in one period. Missing data does not ring it. */
export interface AlarmWhen {
  atLeast?: number;
  below?: number;
  /** Above what is expected of the metric by its past, by this many standard deviations. */
  aboveExpectedBy?: number;
  periods?: number;
  /** Breaching periods that ring it; all by default. */
  toAlarm?: number;
  /** Rings too when data stops. A new alarm without data stays silent. */
  orNoData?: boolean;
  /** Rings too without data, a new alarm too. */
  orNeverData?: boolean;
}

/** Adds an alarm, and returns it. `description` is a sentence for whoever gets its mail. */
export type AddAlarm = (id: string, metric: IMetric, description: string, when?: AlarmWhen) => Alarm;

/** Adds alarms to a construct that notify a topic when they ring, and when they are over. */
export const alarmsTo =
  (scope: Construct, topic: Topic): AddAlarm =>
  (id, metric, alarmDescription, when = {}) => {
    const { periods = 1, toAlarm, orNoData, orNeverData } = when;
    const common = {
      metric,
      alarmDescription,
      evaluationPeriods: periods,
      ...(toAlarm !== undefined && { datapointsToAlarm: toAlarm }),
      treatMissingData: orNeverData
        ? TreatMissingData.BREACHING
        : orNoData
          ? TreatMissingData.MISSING
          : TreatMissingData.NOT_BREACHING,
    };
    const alarm = createAlarm(scope, id, common, when);
    const notify = new SnsAction(topic);
    alarm.addAlarmAction(notify);
    alarm.addOkAction(notify);
    // A new alarm has no data, and stays silent: only the change to that state is an action.
    if (orNoData) alarm.addInsufficientDataAction(notify);
    return alarm;
  };

const createAlarm = (
  scope: Construct,
  id: string,
  common: Omit<AlarmProps, 'threshold'>,
  { atLeast = 1, below, aboveExpectedBy }: AlarmWhen,
): Alarm => {
  if (aboveExpectedBy !== undefined) {
    const comparisonOperator = ComparisonOperator.GREATER_THAN_UPPER_THRESHOLD;
    return new AnomalyDetectionAlarm(scope, id, { ...common, stdDevs: aboveExpectedBy, comparisonOperator });
  }
  const comparisonOperator =
    below === undefined
      ? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
      : ComparisonOperator.LESS_THAN_THRESHOLD;
  return new Alarm(scope, id, { ...common, threshold: below ?? atLeast, comparisonOperator });
};
