import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { itemsNaming } from '../contract/support/aws.ts';
import { sharedService } from '../contract/support/client.ts';
import { type LocalService, ops } from '../contract/support/local-service.ts';
import { storedKeys } from '../contract/support/stored.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

let service: LocalService;
beforeAll(async () => {
  service = await sharedService();
});

/** Runs the smoke test on the shared run. Stops it at the first line of progress that `stopAt` matches. */
const smoke = async (stopAt?: RegExp): Promise<{ code: number | null; table: string; lines: string[] }> => {
  const args = ['--disable-warning=ExperimentalWarning', 'ops/smoke/main.ts', '--data-dir', service.dataDir];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let table = '';
  child.stdout.on('data', (chunk: Buffer) => {
    table += chunk.toString();
  });
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    if (stopAt?.test(line) && !child.killed) child.kill('SIGINT');
  });
  return { code: await exited, table, lines };
};

/** Rows of the table with this result. */
const rows = (table: string, result: string): string[] =>
  table.split('\n').flatMap((line) => new RegExp(`^(.+?) +${result} +[\\d.]+ `).exec(line)?.[1] ?? []);

const accountIn = (lines: readonly string[]): string =>
  lines.map((line) => /^account and key: (acc_\w+)$/.exec(line)?.[1]).find(Boolean) ?? 'no account';

/** Leftovers of an account: its entry in the list of accounts, and its items without a TTL. */
const leftOf = async (accountId: string) => {
  const accounts = await ops<{ accountId: string }[]>(service, 'accounts', 'list');
  const items = await itemsNaming(service, accountId);
  return {
    accounts: accounts.filter((account) => account.accountId === accountId),
    items: items.filter((item) => !item.includes('"ttl"')),
  };
};

describe('npm run smoke', () => {
  test('passes on the local run, says what cannot be checked there, and leaves nothing', async () => {
    const before = await storedKeys(service);

    const { code, table, lines } = await smoke();

    expect(table).toContain('0 failed');
    expect(code).toBe(0);
    expect(rows(table, 'passed')).toEqual(
      expect.arrayContaining([
        ...[
          'unknown route, rare content type',
          'image made',
          'video made',
          'webhook',
          'image file',
          'video file',
        ],
        ...['altered URL', 'rate limit', 'deletion', 'ledger', 'everything removed'],
      ]),
    );
    expect(rows(table, 'skipped')).toEqual([
      ...['Lambda concurrency', 'open executions', 'alarm subscription', 'alarm raised', 'alarm delivered'],
    ]);
    expect(await leftOf(accountIn(lines))).toEqual({ accounts: [], items: [] });
    const made = lines.flatMap((line) => /^(?:image|video) accepted: (\w+)$/.exec(line)?.[1] ?? []);
    expect(made).toHaveLength(2);
    const after = await storedKeys(service);
    expect(after.filter((key) => !before.includes(key) && made.some((id) => key.includes(id)))).toEqual([]);
  });

  test('stopped by Ctrl-C while requests are under way it leaves nothing either, and exits with 1', async () => {
    const { code, table, lines } = await smoke(/^video accepted: /);

    expect(code).toBe(1);
    expect(lines).toContain('Stopping: what was made is removed first.');
    expect(rows(table, 'passed')).toContain('everything removed');
    expect(await leftOf(accountIn(lines))).toEqual({ accounts: [], items: [] });
  });
});
