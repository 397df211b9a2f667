import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { putQueueEntry } from '../../../core/admission/queue-entries.ts';
import { newRequestId } from '../../../core/ids.ts';
import { requestKey } from '../../../core/table/keys.ts';
import { systemClock } from '../../../core/time.ts';
import { atSeconds } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anImageRequest,
  aVideoRequest,
  putAccount,
  putRequest,
  REQUEST_ID,
} from '../builders/entities.ts';
import { bucket } from '../fakes/fresh-bucket.ts';
import { executions } from '../fakes/fresh-executions.ts';
import { memory } from '../fakes/fresh-table.ts';
import { serveHistories } from './execution-histories.ts';
import { describeLocalRun } from './local-run.ts';

const { ops, opsOn } = describeLocalRun();

const OTHER = 'acc_2';
let seconds: number;
beforeEach(() => {
  serveHistories(executions);
  bucket.client.on(ListObjectsV2Command).resolves({});
  // Each reading of the clock is a second after the last.
  seconds = 60;
  jest.spyOn(systemClock, 'now').mockImplementation(() => atSeconds(seconds++));
  for (const accountId of [ACCOUNT_ID, OTHER]) {
    putAccount(memory, anAccount({ accountId }));
  }
});

const at = (second: number): string => atSeconds(second).toISOString();
const idOf = (second: number, kind: 'image' | 'video' = 'image') => newRequestId(kind, atSeconds(second));
const put = (requestId: string, second: number, changes: Parameters<typeof anImageRequest>[0] = {}) =>
  putRequest(memory, anImageRequest({ requestId, createdAt: at(second), ...changes }));
const watch = ['requests', 'watch', '--every', '0s'];
/** What is printed, with the times left out. */
const linesOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(line.indexOf(' ') + 1));

describe('requests watch', () => {
  test('prints the unfinished requests of every account, oldest first, and not those that ended before', async () => {
    const [image, video] = [idOf(1), idOf(2, 'video')];
    put(image, 1);
    const waiting = { requestId: video, createdAt: at(2), status: 'processing', accountId: OTHER } as const;
    putRequest(memory, aVideoRequest(waiting));
    put(idOf(0), 0, { status: 'failed' });

    const { status, stdout, stderr } = await ops(...watch, '--for', '0s');

    expect([status, stderr]).toEqual([0, '']);
    expect(linesOf(stdout)).toEqual([
      `${image} queued xQI3Pro ${ACCOUNT_ID}`,
      `${video} processing xW3.0s ${OTHER}`,
    ]);
    expect(stdout).toMatch(/^2026-11-20T09:01:\d\d\.000Z img_/);
  });

  test('prints each change as a line, and requests that came and ended between two checks', async () => {
    const [first, quick] = [idOf(1), idOf(61)];
    put(first, 1);
    let checks = 0;
    const out = () => {
      checks += 1;
      if (checks > 1) return;
      put(first, 1, { status: 'succeeded', finishedAt: at(61), expiresAt: at(9_000) });
      put(quick, 61, { status: 'failed', finishedAt: at(62) });
    };

    const { stdout } = await opsOn({ out }, ...watch, '--for', '9s');

    expect(linesOf(stdout)).toEqual([
      `${first} queued xQI3Pro ${ACCOUNT_ID}`,
      `${first} queued -> succeeded xQI3Pro ${ACCOUNT_ID}`,
      `${quick} failed xQI3Pro ${ACCOUNT_ID}`,
    ]);
  });

  test('reads no record again that has ended', async () => {
    const ended = idOf(1);
    put(ended, 1);
    let checks = 0;
    const out = () => {
      checks += 1;
      put(ended, 1, { status: 'failed', finishedAt: at(61) });
    };

    await opsOn({ out }, ...watch, '--account', ACCOUNT_ID, '--for', '30s');

    expect(checks).toBe(2);
    expect(memory.calls().BatchGetCommand).toBe(2);
  });

  test('keeps to an account and to a status', async () => {
    put(idOf(1), 1);
    put(idOf(2), 2, { accountId: OTHER });
    put(idOf(3), 3, { status: 'processing' });

    const { stdout } = await ops(...watch, '--for', '0s', '--account', ACCOUNT_ID, '--status', 'queued');

    expect(linesOf(stdout)).toEqual([expect.stringMatching(` queued xQI3Pro ${ACCOUNT_ID}$`)]);
  });

  test('draws a table in place on a terminal, as high and as wide as that', async () => {
    for (let second = 0; second < 30; second++) {
      put(idOf(second), second, { status: second % 2 === 0 ? 'queued' : 'processing' });
    }

    const { stdout } = await opsOn({ columns: 80, rows: 12 }, ...watch, '--for', '3s');

    const [first = '', second = ''] = stdout.split('\u001b[10A\u001b[0J');
    expect(second).not.toBe('');
    expect(first).toMatch(
      /^09:01:\d\d UTC: 30 unfinished, 0 ended, the newest 7 shown\. Ctrl-C ends\.\n\nCREATED/,
    );
    expect(first.trimEnd().split('\n')).toHaveLength(10);
    for (const line of first.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('ends after its time with a last check, however long its pauses are', async () => {
    let readings = 0;
    // Five milliseconds are left until the last check.
    jest.spyOn(systemClock, 'now').mockImplementation(() => {
      readings += 1;
      if (readings === 1) return atSeconds(60);
      return readings < 5 ? new Date(atSeconds(61).getTime() - 5) : atSeconds(62);
    });

    const { status } = await ops('requests', 'watch', '--every', '1d', '--for', '1s');

    expect([status, readings]).toEqual([0, 6]);
  });

  test('ends with 0 on Ctrl-C, also during a pause', async () => {
    put(idOf(1), 1);
    const interrupt = new AbortController();
    const streams = { out: () => interrupt.abort(), catchInterrupt: () => interrupt.signal };

    const { status, stderr } = await opsOn(streams, 'requests', 'watch', '--every', '1d');

    expect([status, stderr]).toEqual([0, '']);
  });

  test('shows no progress beside what it shows itself', async () => {
    put(idOf(1), 1);
    const timers = jest.spyOn(globalThis, 'clearTimeout');
    const progress = { update: jest.fn(), succeed: jest.fn(), fail: jest.fn(), stop: jest.fn() };
    let clearedAtFirstLine = 0;
    const out = () => {
      clearedAtFirstLine = timers.mock.calls.length;
    };

    await opsOn({ out, progress }, ...watch, '--for', '0s');

    expect(clearedAtFirstLine).toBeGreaterThan(0);
    expect(progress.update).not.toHaveBeenCalled();
    timers.mockRestore();
  });

  test('is refused for an account that does not exist', async () => {
    expect(await ops(...watch, '--account', 'acc_none')).toMatchObject({ status: 1, stdout: '' });
  });
});

describe('requests watch of one request', () => {
  const ended = { status: 'succeeded', finishedAt: at(10), expiresAt: at(9_000) } as const;
  const one = [...watch, '--id', REQUEST_ID];

  test('prints each part once, and ends with its request', async () => {
    put(REQUEST_ID, 0, ended);

    const { status, stdout } = await ops(...one);

    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${at(0)} queued \\(10s\\): xQI3Pro, 1 of 1K, debit 4\n`));
    expect(stdout.split('\n').filter((line) => line.includes('settling'))).toEqual([
      `${at(9)} settling (1.0s): succeeded, cost 0`,
    ]);
  });

  test('goes on until the request has ended', async () => {
    put(REQUEST_ID, 0, { status: 'processing' });
    const out = () => put(REQUEST_ID, 0, ended);

    const { stdout } = await opsOn({ out }, ...one);

    expect(stdout).toContain(`${at(0)} waiting for the first provider call…: xQI3Pro`);
    expect(stdout).toContain(`${at(0)} queued (10s): xQI3Pro`);
    expect(stdout).toContain(`settling (1.0s): succeeded`);
    expect(new Set(stdout.split('\n')).size).toBe(stdout.split('\n').length);
  });

  test('says what the request waits for, and where it is in the queue', async () => {
    const assignment = { route: 'fal/qwen', number: 1, at: at(0) };
    put(REQUEST_ID, 0, { assignment });
    const token = { taskToken: 't', tokenOrder: '1', weight: 1, starts: 1 };
    const entry = { requestId: REQUEST_ID, accountId: ACCOUNT_ID, createdAt: at(0), ...token };
    await putQueueEntry('fal/qwen', entry, atSeconds(60));
    const out = () => put(REQUEST_ID, 0, { ...ended, assignment });

    expect((await opsOn({ out }, ...one)).stdout).toContain('\nwaits for its turn at fal/qwen: 1 of 1\n');

    put(REQUEST_ID, 0, { assignment });
    const { stdout } = await opsOn({ columns: 120, rows: 40, out }, ...one);
    expect(stdout).toContain(': queued, waits for its turn at fal/qwen: 1 of 1. Ctrl-C ends the watch;');

    put(REQUEST_ID, 0, { assignment });
    const list = await opsOn({ columns: 120, rows: 40 }, ...watch, '--for', '0s');
    expect(list.stdout).toMatch(/QUEUE +MODEL\n.* queued +1 of 1 +xQI3Pro/);
  });

  test('draws its timeline in place on a terminal', async () => {
    put(REQUEST_ID, 0, ended);

    const { stdout } = await opsOn({ columns: 80, rows: 40 }, ...one);

    expect(stdout).toMatch(
      new RegExp(`^${REQUEST_ID}, xQI3Pro: succeeded\\. Ctrl-C ends\\.\\n\\n2026-11-20 +AFTER`),
    );
    expect(stdout).toContain('█');
  });

  test('says that the request was deleted', async () => {
    put(REQUEST_ID, 0, { status: 'processing' });
    const out = () => memory.remove(requestKey(REQUEST_ID));

    const { status, stderr } = await opsOn({ out }, ...one);

    expect([status, stderr]).toEqual([
      1,
      `There is no request ${REQUEST_ID}. List requests with: requests list\n`,
    ]);
  });
});
