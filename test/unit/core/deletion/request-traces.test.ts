import '../../builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { removeTraces } from '../../../../core/deletion/finish-deletion.ts';
import {
  providerAttemptKey,
  providerWaitKey,
  requestKey,
  webhookAttemptKey,
  webhookAttemptsEndKey,
} from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { anAttempt, anImageRequest, REQUEST_ID, VIDEO_ID } from '../../builders/entities.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
beforeEach(() => memory.reset());

/** Puts a request there with so many provider calls and how it waited. */
const given = (requestId: string, calls: number): void => {
  memory.put(requestKey(requestId), anImageRequest({ requestId }));
  memory.put(providerWaitKey(requestId), { requestId });
  for (let call = 0; call < calls; call++) {
    memory.put(providerAttemptKey(requestId, call, 0), anAttempt({ requestId, call }));
  }
};
const left = (requestId: string): unknown[] => memory.partition(`REQUEST#${requestId}`).map(({ SK }) => SK);

describe('removing the traces of a request', () => {
  test('removes everything stored beside the request, and leaves the request', async () => {
    given(REQUEST_ID, 3);
    memory.put({ PK: `REQUEST#${REQUEST_ID}`, SK: 'SOMETHING_NEW' }, {});

    await removeTraces(REQUEST_ID);

    expect(left(REQUEST_ID)).toEqual(['REQUEST']);
  });

  test('removes its webhook attempts, and leaves the item that keeps late ones out', async () => {
    memory.put(webhookAttemptKey(REQUEST_ID, REQUEST_ID, 1), {});
    memory.put(webhookAttemptsEndKey(REQUEST_ID), {});
    memory.put(webhookAttemptKey(VIDEO_ID, VIDEO_ID, 1), {});

    await removeTraces(REQUEST_ID);

    expect(memory.partition(`WEBHOOK_ATTEMPTS#${REQUEST_ID}`)).toEqual([webhookAttemptsEndKey(REQUEST_ID)]);
    expect(memory.partition(`WEBHOOK_ATTEMPTS#${VIDEO_ID}`)).toHaveLength(1);
  });

  test('spans several pages and batches', async () => {
    given(REQUEST_ID, 60);
    memory.itemsPerQuery = 7;

    await removeTraces(REQUEST_ID);

    expect(left(REQUEST_ID)).toEqual(['REQUEST']);
  });

  test('leaves other requests alone', async () => {
    given(REQUEST_ID, 1);
    given(VIDEO_ID, 1);

    await removeTraces(REQUEST_ID);

    expect(left(VIDEO_ID)).toHaveLength(3);
  });

  test('that left none writes nothing', async () => {
    await removeTraces(REQUEST_ID);

    expect(memory.calls()).toEqual({ QueryCommand: 2 });
  });
});
