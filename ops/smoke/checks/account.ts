import type { AwsAccount } from '../aws-account.ts';
import { type Check, CheckFailedError, CheckSkippedError, ensure, left } from '../check.ts';
import { poll } from '../poll.ts';
import type { Smoke } from '../smoke.ts';

/** AWS keeps this much unreserved, and functions that wait for servers of others want some hundreds. */
const ENOUGH_TO_RESERVE = 500;
/** AWS's default. Each request holds one open execution from its creation to its end. */
const DEFAULT_OPEN_EXECUTIONS = 1_000_000;
/** CloudWatch acts within seconds of a new state. */
const ACTION_SECONDS = 60;
const METRIC_POLL_SECONDS = 15;

const awsOf = ({ aws }: Smoke): AwsAccount => {
  if (!aws) throw new CheckSkippedError('Not on this machine: the local run has no AWS account.');
  return aws;
};

/** The command that asks AWS for more functions at once. */
const increase = (region: string): string =>
  `aws service-quotas request-service-quota-increase --region ${region} --service-code lambda --quota-code L-B99A9384 --desired-value 1000`;

const concurrency: Check = {
  name: 'Lambda concurrency',
  async run(smoke) {
    const aws = awsOf(smoke);
    const { quota, unreserved } = await aws.concurrency();
    const { minConcurrency, waitingInAll } = smoke.options;
    ensure(
      quota >= minConcurrency,
      `The quota in ${aws.region} is ${quota} functions at once, and ${minConcurrency} are wanted. Raise it, or give --min-concurrency: ${increase(aws.region)}`,
    );
    const most = Math.floor(unreserved / 2);
    ensure(
      waitingInAll === undefined || waitingInAll <= most,
      `openaiWaitingInAll lets ${waitingInAll} calls wait, and ${aws.region} runs ${unreserved} functions at once that are not reserved: give ${most} at most, so that the work finds functions, or none.`,
    );
    const advice = unreserved >= ENOUGH_TO_RESERVE ? ', enough to set reservedConcurrency' : '';
    return `${quota} at once, ${unreserved} not reserved${advice}`;
  },
};

const openExecutions: Check = {
  name: 'open executions',
  async run(smoke) {
    const quota = await awsOf(smoke).openExecutions();
    if (quota === undefined) throw new CheckSkippedError('Service Quotas lists no quota on open executions.');
    ensure(
      quota >= DEFAULT_OPEN_EXECUTIONS,
      `The quota is ${quota} open executions, below AWS's default of ${DEFAULT_OPEN_EXECUTIONS}: request an increase.`,
    );
    return `up to ${quota}`;
  },
};

const subscription: Check = {
  name: 'alarm subscription',
  async run(smoke) {
    const { confirmed, pending } = await awsOf(smoke).subscriptions();
    ensure(
      pending === 0,
      `${pending} subscription of the alarms is not confirmed: open the link in the mail from AWS.`,
    );
    if (confirmed === 0) throw new CheckSkippedError('Nobody gets the alarms: deploy with -c alarmEmail=….');
    return `${confirmed} confirmed`;
  },
};

const alarmRaised: Check = {
  name: 'alarm raised',
  async run(smoke) {
    const aws = awsOf(smoke);
    const name = await aws.findQuietAlarm();
    if (name === undefined)
      throw new CheckFailedError('No alarm notifies the topic, or all of them are in ALARM.');
    const raisedAt = new Date();
    smoke.made.alarm = { name, raisedAt };
    await aws.setAlarm(name, 'ALARM');
    const found = await poll(smoke, { everySeconds: 5, forSeconds: ACTION_SECONDS }, async () => {
      const actions = await aws.alarmActions(name, raisedAt);
      return actions[0];
    });
    if (found === undefined)
      throw new CheckFailedError(`Alarm ${name} took no action within ${ACTION_SECONDS} s.`);
    ensure(/^Successfully executed action/.test(found), `Alarm ${name} could not notify its topic: ${found}`);
    return `${name} notified its topic`;
  },
};

/** Last of all: the metric comes minutes late. */
const alarmDelivered: Check = {
  name: 'alarm delivered',
  async run(smoke) {
    const aws = awsOf(smoke);
    const { raisedAt } = left(smoke.made.alarm, 'alarm that was raised');
    const { confirmed } = await aws.subscriptions();
    const metric = confirmed > 0 ? 'NumberOfNotificationsDelivered' : 'NumberOfMessagesPublished';
    const { metricPatienceSeconds: forSeconds } = smoke.options;
    smoke.say(`waiting for the metric ${metric}, which comes some minutes late`);
    const sum = await poll(smoke, { everySeconds: METRIC_POLL_SECONDS, forSeconds }, async () => {
      const found = await aws.topicSum(metric, raisedAt);
      return found > 0 ? found : undefined;
    });
    if (sum === undefined)
      throw new CheckFailedError(`${metric} of the alarms' topic stayed 0 for ${forSeconds} s.`);
    return `${metric} is ${sum}`;
  },
};

/** Checks of the AWS account: quotas, and the delivery of an alarm. */
export const ACCOUNT_CHECKS: readonly Check[] = [concurrency, openExecutions, subscription, alarmRaised];
export const LAST_ACCOUNT_CHECKS: readonly Check[] = [alarmDelivered];
