import { expect, jest, test } from '@jest/globals';
import { table } from '../../../../core/table/table.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);

const loaded = jest.fn();
jest.unstable_mockModule('@aws-sdk/client-bedrock-runtime', () => {
  loaded();
  throw new Error('The client is loaded.');
});

test('the client of the content filter is loaded only when a guardrail is configured', async () => {
  const { screenPrompt } = await import('../../../../core/creation/content-filter.ts');

  await screenPrompt({ accountId: 'acc_1' }, 'anything');
  expect(loaded).not.toHaveBeenCalled();
  expect(memory.calls()).toEqual({});

  process.env.GUARDRAIL_ID = 'guardrail';
  process.env.GUARDRAIL_VERSION = '1';
  await expect(screenPrompt({ accountId: 'acc_1' }, 'anything')).rejects.toThrow('The client is loaded.');
  expect(loaded).toHaveBeenCalledTimes(1);
});
