import '../../builders/environment.ts';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from '@jest/globals';
import { ListChanges } from '../../../../core/lists/list-changes.ts';
import { listChangeKey } from '../../../../core/table/count-keys.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
let seconds = 0;
beforeEach(() => {
  memory.reset();
  seconds = 0;
});
const changesOf = () => new ListChanges({ now: () => atSeconds(seconds) });
const notedAt = (part: string) => memory.get(listChangeKey('acc', 'REQUESTS', part))?.changedAt;

test('many changes in a part within a minute are noted once, and none goes on before', async () => {
  const changes = changesOf();
  await Promise.all([0, 1, 2].map(() => changes.note('acc', 'REQUESTS', 'A')));
  seconds = 59;
  await changes.note('acc', 'REQUESTS', 'A');
  expect(memory.calls()).toEqual({ UpdateCommand: 1 });
  expect(notedAt('A')).toBe(atSeconds(0).toISOString());

  await changes.note('acc', 'REQUESTS', 'B');
  seconds = 60;
  await changes.note('acc', 'REQUESTS', 'A');
  expect([notedAt('A'), notedAt('B')]).toEqual([60, 59].map((at) => atSeconds(at).toISOString()));
});

test('a note that failed is made again', async () => {
  const changes = changesOf();
  memory.client.on(UpdateCommand).rejectsOnce(new Error('busy'));

  await expect(changes.note('acc', 'REQUESTS', 'A')).rejects.toThrow('busy');
  await changes.note('acc', 'REQUESTS', 'A');
  expect(memory.calls()).toEqual({ UpdateCommand: 2 });
});
