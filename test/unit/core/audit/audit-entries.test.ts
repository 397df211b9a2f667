import { beforeEach, expect, test } from '@jest/globals';
import { listAuditEntries, putAuditEntry } from '../../../../core/audit/audit.ts';
import { atSeconds } from '../../builders/clocks.ts';
import '../../fakes/fresh-table.ts';

const actionsIn = async (query: Parameters<typeof listAuditEntries>[0]): Promise<string[]> => {
  const actions: string[] = [];
  for await (const { action } of listAuditEntries(query)) actions.push(action);
  return actions;
};
beforeEach(async () => {
  const changes = [
    { action: 'of one', accountId: 'acc_1' },
    { action: 'of none' },
    { action: 'of another', accountId: 'acc_2' },
    { action: 'of one again', accountId: 'acc_1' },
  ];
  for (const [second, change] of changes.entries())
    await putAuditEntry({ actor: 'ada', ...change }, atSeconds(second));
});

test('The changes by staff are listed with the newest first', async () => {
  expect(await actionsIn({})).toEqual(['of one again', 'of another', 'of none', 'of one']);
});

test('Those of an account are its own only', async () => {
  expect(await actionsIn({ accountId: 'acc_1' })).toEqual(['of one again', 'of one']);
  expect(await actionsIn({ accountId: 'acc_3' })).toEqual([]);
});

test('Those since an instant include that instant', async () => {
  expect(await actionsIn({ since: atSeconds(2).toISOString() })).toEqual(['of one again', 'of another']);
  expect(await actionsIn({ since: atSeconds(2.001).toISOString(), accountId: 'acc_1' })).toEqual([
    'of one again',
  ]);
});
