import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { LongCall } from '../../../../core/creation/collection.ts';
import { createForCall, type FileStore } from '../../../../core/creation/create-for-call.ts';
import { newRequestId } from '../../../../core/ids.ts';
import { idempotencyPartition, requestKey } from '../../../../core/table/keys.ts';
import { nameUpload, type OwnUpload } from '../../../../core/uploads/own-upload.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { anImageSubmission } from '../../builders/submissions.ts';
import { cancelled, tableError } from '../../builders/table-errors.ts';
import '../../fakes/fresh-secrets.ts';
import { executions, memory } from './a-creation.ts';

const call = (isKeyed = false): LongCall => ({
  ...{ accountId: ACCOUNT_ID, kind: 'image', digest: 'd', isKeyed, retry: 0, waiter: 'own' },
});
const create = (
  submission = anImageSubmission({}),
  { isKeyed = false, ...files }: { isKeyed?: boolean; uploads?: OwnUpload[] } & Partial<FileStore> = {},
) => createForCall(anAccount(), submission, call(isKeyed), { uploads: [], ...files });
const entries = () => memory.partition(idempotencyPartition(ACCOUNT_ID));

describe('the creation of a call that waits', () => {
  test('opens an entry, which its request replaces', async () => {
    const states: unknown[] = [];
    memory.beforeTransaction = () =>
      states.push(...entries().map(({ requestId, state }) => [requestId, state]));

    const held = await create();

    expect(states).toEqual([[undefined, 'open']]);
    expect(entries()).toMatchObject([{ requestId: held?.requestId, state: 'open', waiter: 'own', retry: 0 }]);
    expect(executions.names('generation')).toEqual([held?.requestId]);
  });

  test('with an Idempotency-Key opens none before', async () => {
    const before: unknown[] = [];
    memory.beforeTransaction = () => before.push(...entries());

    const held = await create(anImageSubmission({}), { isKeyed: true });

    expect(before).toEqual([]);
    expect(entries()).toMatchObject([{ SK: 'KEY#d', requestId: held?.requestId, waiter: 'own' }]);
  });

  test('writes nothing for a submission that is wrong', async () => {
    await expect(create(anImageSubmission({ n: 0 }))).rejects.toMatchObject({ code: 'validation_error' });

    const written = Object.keys(memory.calls()).filter((name) => !/^(Get|BatchGet|Query)/.test(name));
    expect([written, executions.started]).toEqual([[], []]);
  });
});

describe('the files of a call that waits', () => {
  const stored = new Set<string>();
  const store = jest.fn(async ({ objectKey }: { objectKey: string }) => void stored.add(objectKey));
  const remove = async (keys: string[]) => keys.forEach((key) => void stored.delete(key));
  const uploads = Array.from({ length: 2 }, () => nameUpload(Buffer.from('a'), ACCOUNT_ID, NOW));
  const ways = { uploads, store, remove };
  beforeEach(() => {
    stored.clear();
    store.mockClear();
  });

  test('are stored before its request is written, at most five at once', async () => {
    const [order, ends]: [string[], (() => void)[]] = [[], []];
    memory.beforeTransaction = () => order.push('written');
    const many = Array.from({ length: 12 }, () => nameUpload(Buffer.from('a'), ACCOUNT_ID, NOW));
    const slow = () => {
      order.push('stored');
      return new Promise<void>((resolve) => void ends.push(resolve));
    };

    const created = create(anImageSubmission({}), { uploads: many, store: slow, remove });
    for (const most of [5, 10, 12]) {
      while (ends.length < most) await new Promise(setImmediate);
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
      expect(order).toEqual(Array(most).fill('stored'));
      for (const end of ends) end();
    }
    await created;

    expect(order.at(-1)).toBe('written');
  });

  test.each<[string, boolean, Error, number]>([
    ['was refused', false, cancelled('ValidationError'), 0],
    ['was refused', true, cancelled('ValidationError'), 0],
    ['may have been made', true, tableError('TimeoutError'), 2],
  ])('of which the write %s (keyed: %p) are left as they must', async (_, isKeyed, error, left) => {
    memory.beforeTransaction = () => {
      throw error;
    };

    await expect(create(anImageSubmission({}), { ...ways, isKeyed })).rejects.toBeDefined();
    expect([store.mock.calls.length, stored.size]).toEqual([2, left]);
  });

  test('are not stored again for the request that a key made before, which the call then waits for', async () => {
    const submission = () => anImageSubmission({}, { idempotencyKey: 'd' });
    const keyed = { ...ways, isKeyed: true };
    const { createHash } = await import('node:crypto');
    const digest = createHash('sha256').update('d').digest('hex');
    const createKeyed = () =>
      createForCall(anAccount(), submission(), { ...call(true), digest }, { ...keyed });
    const first = await createKeyed();
    store.mockClear();
    stored.clear();

    const second = await createKeyed();

    expect(second).toMatchObject({ requestId: first?.requestId, waiter: 'own' });
    expect([store.mock.calls, executions.started.length]).toEqual([[], 1]);
  });

  test('are removed when another call has taken its place', async () => {
    memory.beforeTransaction = (attempt) => {
      const [entry] = entries();
      if (attempt === 1 && entry) memory.remove(entry as { PK: string; SK: string });
    };

    expect(await create(anImageSubmission({}), ways)).toBeUndefined();
    expect([stored.size, executions.started]).toEqual([0, []]);
  });

  test('stay, and the call waits, when its request was written unheard', async () => {
    memory.afterTransaction = () => {
      throw tableError('TimeoutError');
    };

    const held = await create(anImageSubmission({}), ways);

    expect(memory.get(requestKey(held?.requestId ?? newRequestId('image', NOW)))).toBeDefined();
    expect(stored.size).toBe(2);
  });
});
