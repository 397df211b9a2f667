import { describe, expect, test } from '@jest/globals';
import { readDocument, tableRows } from '../unit/docs/documents.ts';
import { DEVELOPMENT, EVERY_OPTION, PRODUCTION } from './option-sets.ts';
import { ofType, onlyOne, propertiesOf, synthesizeService } from './service-template.ts';

/** A part of the metric math of an alarm. */
interface MathMetric {
  MetricStat?: object;
}

/** Types of which each resource costs by the month, or by what an idle stack does. */
const BILLED_WHILE_IDLE = new Set([
  ...['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard', 'AWS::SecretsManager::Secret'],
  ...['AWS::WAFv2::WebACL', 'AWS::Events::Rule', 'AWS::Lambda::Function', 'AWS::StepFunctions::StateMachine'],
]);
/** Types that cost by calls, bytes or not at all. */
const FREE_WHILE_IDLE =
  /^(AWS::(ApiGateway|CloudFront|IAM|Logs|S3|SNS|Scheduler|DynamoDB)::|AWS::Lambda::(EventInvokeConfig|Permission|Url)$|AWS::WAFv2::WebACLAssociation$|Custom::)/;

const service = await synthesizeService();
const alarms = propertiesOf(service.resources, 'AWS::CloudWatch::Alarm');

describe('the guide to configuring', () => {
  const count = (type: string) => ofType(service.resources, type).length;
  // One with a band of what is expected is billed as three: the metric and the band's two edges.
  const watched = alarms.flatMap((Properties) =>
    ((Properties.Metrics ?? [{ MetricStat: {} }]) as MathMetric[]).flatMap(({ MetricStat }) =>
      MetricStat ? Array(Properties.ThresholdMetricId ? 3 : 1).fill(MetricStat) : [],
    ),
  );

  test('counts what is billed by the piece: secrets, metrics of alarms, dashboards', () => {
    expect(readDocument('docs/configuring.md')).toContain(
      `| secrets, metrics of alarms, dashboard | ${count('AWS::SecretsManager::Secret')}, ${watched.length} and ${count('AWS::CloudWatch::Dashboard')}: `,
    );
  });

  test('has the bill of an idle stack, line by line', async () => {
    const { resources } = await synthesizeService(PRODUCTION);
    const { Rules } = onlyOne(resources, 'AWS::WAFv2::WebACL').Properties;
    const pieces: Record<string, [price: number, pieces: number, extra?: number]> = {
      secrets: [0.4, count('AWS::SecretsManager::Secret')],
      'metrics of alarms': [0.1, watched.length],
      dashboards: [3, count('AWS::CloudWatch::Dashboard')],
      'keys of KMS of our own': [1, count('AWS::KMS::Key')],
      'web ACLs, with `wafRequestsPer5Minutes`': [5, 1, Rules.length],
    };
    const rows = tableRows(
      readDocument('docs/configuring.md'),
      'idle, a month',
      'each',
      'pieces',
      'together',
    );
    const documented = Object.fromEntries(rows.map(([name = '', ...row]) => [name, row]));

    for (const [name, [price, number, extra = 0]] of Object.entries(pieces)) {
      const [each = '', given = '', together] = documented[name] ?? [];
      expect([name, Number.parseFloat(each.slice(1)), Number.parseInt(given, 10)]).toEqual([
        name,
        price,
        number,
      ]);
      expect([name, together]).toEqual([name, `$${(price * number + extra).toFixed(2)}`]);
    }
  });

  test('misses no type of resource that costs while it is idle', async () => {
    const all = await Promise.all([synthesizeService(EVERY_OPTION), synthesizeService(DEVELOPMENT)]);
    const types = new Set(all.flatMap(({ resources }) => Object.values(resources).map(({ Type }) => Type)));

    const known = [...types].filter((type) => BILLED_WHILE_IDLE.has(type) || FREE_WHILE_IDLE.test(type));
    expect([...types].toSorted()).toEqual(known.toSorted());
  });
});
