import { beforeEach, describe, expect, test } from '@jest/globals';
import type { CheckResult } from '../../../../ops/smoke/check.ts';
import { reportOf } from '../../../../ops/smoke/program.ts';
import { runSmoke } from '../../../../ops/smoke/run-smoke.ts';
import { ACCOUNT, ALARM, aService, type FakeService, IMAGE, refused, SILENT, VIDEO } from './a-service.ts';

let service: FakeService;
beforeEach(async () => {
  service = await aService();
});

const run = (): Promise<CheckResult[]> => runSmoke(service.smoke, SILENT);
const named = (results: CheckResult[], name: string) => results.find((result) => result.name === name);

describe('the account of AWS', () => {
  test('without a subscriber the published messages are counted, and that nobody gets alarms is said', async () => {
    service.aws.subscriptions = async () => ({ confirmed: 0, pending: 0 });
    service.aws.topicSum = async (metric) => (metric === 'NumberOfMessagesPublished' ? 2 : 0);

    const results = await run();

    expect(named(results, 'alarm subscription')).toMatchObject({
      result: 'skipped',
      detail: expect.stringMatching(/alarmEmail/),
    });
    expect(named(results, 'alarm delivered')?.detail).toBe('NumberOfMessagesPublished is 2');
  });

  test('is skipped, and says so, on a machine that has none', async () => {
    service.smoke.aws = undefined;

    const skipped = (await run()).filter(({ result }) => result === 'skipped');

    expect(skipped.map(({ name }) => name)).toEqual([
      ...['Lambda concurrency', 'open executions', 'alarm subscription', 'alarm raised', 'alarm delivered'],
    ]);
    for (const { detail } of skipped) expect(detail).toMatch(/^Not on this machine/);
  });
});

describe('what was made is removed', () => {
  const REMOVED = [
    `set ${ALARM} to ALARM`,
    `set ${ALARM} to OK`,
    `remove ${ACCOUNT} with ${IMAGE}, ${VIDEO}`,
  ];

  test('after everything passed', async () => {
    await run();

    expect(service.done).toEqual(REMOVED);
  });

  test('after failures, without the requests that were not accepted', async () => {
    service.replies['POST /v1/videos'] = () => refused(500, 'internal_error');

    await run();

    expect(service.done.at(-1)).toBe(`remove ${ACCOUNT} with ${IMAGE}`);
  });

  test('after the run is stopped: the check under way fails, and the rest is skipped', async () => {
    const stopping = new AbortController();
    service.smoke.signal = stopping.signal;
    service.smoke.pause = async () => stopping.signal.throwIfAborted();
    service.operator.webhookAttempts = async () => {
      stopping.abort();
      return [];
    };

    const results = await run();

    expect(named(results, 'webhook')).toMatchObject({
      result: 'failed',
      detail: expect.stringMatching(/stopped/),
    });
    expect(named(results, 'image file')).toMatchObject({ result: 'skipped' });
    expect(named(results, 'everything removed')).toMatchObject({ result: 'passed' });
    expect(service.done).toEqual(REMOVED);
  });

  test('and what cannot be removed is named', async () => {
    service.operator.removeAccount = async () => {
      throw new Error('The table is gone.');
    };

    expect(named(await run(), 'everything removed')).toMatchObject({
      result: 'failed',
      detail: `Error: Account ${ACCOUNT} is left: Error: The table is gone.`,
    });
  });

  test('and nothing is touched when no account was made', async () => {
    service.smoke.aws = undefined;
    service.operator.createAccount = async () => {
      throw new Error('Access denied.');
    };

    const results = await run();

    expect(named(results, 'everything removed')?.detail).toBe('there was nothing to remove');
    expect(service.done).toEqual([]);
  });
});

test('a stack without a receiver of webhooks skips that check and sends none', async () => {
  service.smoke.options.webhookUrl = undefined;
  const before = service.replies['POST /v1/generations'];
  const bodies: unknown[] = [];
  service.replies['POST /v1/generations'] = (options) => {
    bodies.push(options.body);
    return before?.(options) ?? refused(404, 'not_found');
  };

  const results = await run();

  expect(named(results, 'webhook')).toMatchObject({
    result: 'skipped',
    detail: expect.stringMatching(/--webhook-url/),
  });
  expect(bodies).toEqual([expect.not.objectContaining({ webhookUrl: expect.anything() })]);
});

test('the report is a table of all checks, a sum, and a sentence for each failure', () => {
  expect(
    reportOf([
      { name: 'one', result: 'passed', detail: 'fine', seconds: 1.5 },
      { name: 'two', result: 'skipped', detail: 'not here', seconds: 0 },
      { name: 'three', result: 'failed', detail: 'It is broken.', seconds: 2 },
    ]),
  ).toBe(
    [
      'CHECK  RESULT   SECONDS  DETAIL',
      'one    passed       1.5  fine',
      'two    skipped        0  not here',
      'three  failed         2  It is broken.',
      '',
      '1 passed, 1 failed, 1 skipped.',
      '',
      'FAILED three: It is broken.',
    ].join('\n'),
  );
});
