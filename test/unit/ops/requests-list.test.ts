import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { newRequestId } from '../../../core/ids.ts';
import { routeNameOf } from '../../../core/provider-names.ts';
import type { StoredRequest } from '../../../core/requests/request-rules.ts';
import { providerAttemptKey, requestKey } from '../../../core/table/keys.ts';
import { systemClock } from '../../../core/time.ts';
import { atSeconds, NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anAttempt,
  anImageRequest,
  aVideoRequest,
  putAccount,
  putRequest,
} from '../builders/entities.ts';
import { memory } from '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

const { ops, json } = describeLocalRun();
jest.spyOn(systemClock, 'now').mockReturnValue(NOW);

const OTHER = 'acc_2';
/** Puts a request created this many seconds ago; returns its id. */
const putRequestFrom = (
  secondsAgo: number,
  changes: Partial<Pick<StoredRequest, 'accountId' | 'status' | 'expiresAt' | 'ttl'>> = {},
  kind: StoredRequest['kind'] = 'image',
): string => {
  const at = atSeconds(-secondsAgo);
  const requestId = newRequestId(kind, at);
  const common = { ...changes, requestId, createdAt: at.toISOString() };
  putRequest(memory, kind === 'image' ? anImageRequest(common) : aVideoRequest(common));
  return requestId;
};

let ids: Record<'expired' | 'succeeded' | 'failed' | 'video' | 'queued' | 'removed', string>;
beforeEach(() => {
  for (const accountId of [ACCOUNT_ID, OTHER]) {
    putAccount(memory, anAccount({ accountId }));
  }
  ids = {
    removed: putRequestFrom(9_000_000, { status: 'failed', ttl: NOW.getTime() / 1000 }),
    expired: putRequestFrom(90_000, { status: 'succeeded', expiresAt: NOW.toISOString() }),
    succeeded: putRequestFrom(600, { status: 'succeeded', expiresAt: atSeconds(1).toISOString() }),
    failed: putRequestFrom(500, { accountId: OTHER, status: 'failed' }),
    video: putRequestFrom(60, { accountId: OTHER, status: 'processing' }, 'video'),
    queued: putRequestFrom(59),
  };
});

const listed = async (...args: string[]): Promise<string[]> => {
  const rows = (await json('requests', 'list', ...args)) as { requestId: string }[];
  return rows.map(({ requestId }) => requestId);
};

describe('requests list', () => {
  test.each([
    ['model', '--model', 'xNone', /no model xNone\. The models are .*xQI3Pro.*/],
    [
      'error code',
      '--error',
      'no_such_code',
      /no error code no_such_code\. The codes are .*provider_error.*/,
    ],
  ])('refuses a %s that does not exist, and names those that do', async (_, option, name, message) => {
    expect(await ops('requests', 'list', option, name)).toMatchObject({
      ...{ status: 1, stdout: '', stderr: expect.stringMatching(message) },
    });
  });

  test('lists the requests of a model that left the catalog', async () => {
    memory.patch(requestKey(ids.queued), { model: 'xOld' });

    expect(await listed('--model', 'xOld')).toEqual([ids.queued]);
  });

  test('prints the images and videos of every account, newest first, with their current status', async () => {
    const { video, queued, failed, succeeded, expired } = ids;

    expect(await listed()).toEqual([queued, video, failed, succeeded, expired]);
    expect(await json('requests', 'list', '--older-than', '10m')).toEqual([
      {
        requestId: succeeded,
        accountId: ACCOUNT_ID,
        status: 'succeeded',
        model: 'xQI3Pro',
        createdAt: atSeconds(-600).toISOString(),
      },
      {
        requestId: expired,
        accountId: ACCOUNT_ID,
        status: 'expired',
        model: 'xQI3Pro',
        createdAt: atSeconds(-90_000).toISOString(),
      },
    ]);
  });

  test('scans nothing: it queries the index of each account', async () => {
    await listed();

    expect(Object.keys(memory.calls()).sort()).toEqual(['BatchGetCommand', 'QueryCommand']);
  });

  test.each([
    ['queued', 'queued'],
    ['processing', 'video'],
    ['succeeded', 'succeeded'],
    ['failed', 'failed'],
    ['expired', 'expired'],
  ] as const)('--status %s prints the requests with that status now', async (status, name) => {
    expect(await listed('--status', status)).toEqual([ids[name]]);
  });

  test.each([
    ['60s', ['video', 'failed', 'succeeded', 'expired']],
    ['1m', ['video', 'failed', 'succeeded', 'expired']],
    ['61s', ['failed', 'succeeded', 'expired']],
    ['1h', ['expired']],
    ['1d', ['expired']],
    ['2d', []],
    ['999999d', []],
  ] as const)('--older-than %s prints the requests at least that old', async (age, names) => {
    expect(await listed('--older-than', age)).toEqual(names.map((name) => ids[name]));
  });

  test('filters by the record, not by the index', async () => {
    const { queued } = ids;
    const before = memory.get({ PK: `REQUEST#${queued}`, SK: 'REQUEST' });
    memory.put({ PK: `REQUEST#${queued}`, SK: 'REQUEST' }, { ...before, status: 'processing' });

    expect(await listed('--status', 'queued')).toEqual([]);
  });

  test('reads only records of the given status', async () => {
    await listed('--status', 'failed', '--account', OTHER);

    const read = memory.client.commandCalls(BatchGetCommand).flatMap(({ args }) => {
      return args[0].input.RequestItems?.table?.Keys ?? [];
    });
    expect(read).toEqual([requestKey(ids.failed)]);
  });

  test.each<[string, string[], (keyof typeof ids)[]]>([
    ['a part of the id', ['--id', 'VID_'], ['video']],
    ['end-user', ['--end-user', 'ADA@example.com', '--account', OTHER], ['video', 'failed']],
    ['another end-user', ['--end-user', 'bob@example.com'], []],
    ['model', ['--model', 'xW3.0s'], ['video']],
    ['prompt', ['--prompt', 'LIGHT'], ['queued', 'failed', 'succeeded', 'expired']],
    ['time', ['--since', '9m'], ['queued', 'video', 'failed']],
    [
      'several',
      ['--model', 'xQI3Pro', '--since', '1h', '--prompt', 'house'],
      ['queued', 'failed', 'succeeded'],
    ],
  ])('searches by %s', async (_, args, names) => {
    expect(await listed(...args)).toEqual(names.map((name) => ids[name]));
  });

  test('searches by the code of the error, which people see', async () => {
    const error = { code: 'content_policy', message: 'No.' } as const;
    memory.patch(requestKey(ids.failed), { error });

    expect(await listed('--error', 'content_policy')).toEqual([ids.failed]);
    expect(await listed('--error', 'provider_error')).toEqual([]);
    expect((await ops('requests', 'list', '--status', 'failed')).stdout).toContain('failed, content_policy');
  });

  test('by an error names the provider that failed each request, and its own code', async () => {
    const error = { code: 'provider_error', message: 'No.' } as const;
    for (const id of [ids.failed, ids.video]) memory.patch(requestKey(id), { error });
    const failure = { kind: 'failed', failure: error, upstream: { code: 'InvalidParameter' } } as const;
    const attempt = anAttempt({ requestId: ids.failed, outcome: failure });
    memory.put(providerAttemptKey(ids.failed, attempt.call, attempt.attempt), attempt);

    const rows = await json('requests', 'list', '--error', 'provider_error');

    expect(rows).toMatchObject([{ provider: routeNameOf(attempt), providerCode: 'InvalidParameter' }]);
    const { stdout } = await ops('requests', 'list', '--error', 'provider_error');
    expect(stdout).toMatch(/its code/i);
    expect(stdout).toContain('InvalidParameter');
    expect((await json('requests', 'list', '--limit', '1')) as object[]).toEqual([
      expect.not.objectContaining({ providerCode: expect.anything() }),
    ]);
  });

  test('prints pages', async () => {
    expect(await listed('--limit', '2')).toEqual([ids.queued, ids.video]);
    expect(await listed('--limit', '2', '--page', '2')).toEqual([ids.failed, ids.succeeded]);
    expect(await listed('--limit', '2', '--page', '3')).toEqual([ids.expired]);
    expect((await ops('requests', 'list', '--limit', '4')).stdout).toContain('More on --page 2.');
    expect((await ops('requests', 'list', '--limit', '5')).stdout).not.toContain('More on');
  });

  test('reads no more records than its page takes, but for one', async () => {
    await listed('--limit', '1');

    const read = memory.client.commandCalls(BatchGetCommand).flatMap(({ args }) => {
      return args[0].input.RequestItems?.table?.Keys ?? [];
    });
    expect(read.filter(({ SK }) => SK === 'REQUEST')).toHaveLength(2);
  });

  test('merges the accounts, newest first, whatever comes', async () => {
    for (let secondsAgo = 1; secondsAgo <= 40; secondsAgo++) {
      putRequestFrom(
        secondsAgo,
        { accountId: secondsAgo % 3 ? OTHER : ACCOUNT_ID },
        secondsAgo % 2 ? 'image' : 'video',
      );
    }
    memory.itemsPerQuery = 3;

    const rows = (await json('requests', 'list')) as { createdAt: string }[];
    const times = rows.map(({ createdAt }) => createdAt);
    expect(times).toHaveLength(45);
    expect(times).toEqual(times.toSorted().reverse());
  });

  test('prints a table without --json', async () => {
    const { stdout } = await ops('requests', 'list', '--status', 'failed');

    expect(stdout).toMatch(
      /^CREATED +REQUEST +ACCOUNT +STATUS +MODEL +END-USER\n2026-\S+ +img_\S+ +acc_2 +failed +xQI3Pro +ada@\S+\n$/,
    );
  });

  test('is refused for an unknown account', async () => {
    expect(await ops('requests', 'list', '--account', 'acc_none', '--json')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'There is no account acc_none. List accounts with: accounts list\n',
    });
  });
});
