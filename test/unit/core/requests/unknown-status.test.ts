import { beforeEach, describe, expect, test } from '@jest/globals';
import { deleteRequest } from '../../../../core/deletion/delete-requests.ts';
import { expireRequests } from '../../../../core/deletion/expire-requests.ts';
import { dispatchRequest } from '../../../../core/dispatch/dispatch-request.ts';
import { closeRequest } from '../../../../core/ending/close-request.ts';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { failedBeforeStoring, givenUp, removeFilesOfFailed } from '../../../../core/ending/failed.ts';
import { settled } from '../../../../core/ending/settled.ts';
import { UNEXPECTED_ERROR } from '../../../../core/errors.ts';
import { findAccountedRequests } from '../../../../core/ledger/request-fates.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { storeOutputs } from '../../../../core/storing/store-outputs.ts';
import { dueListing, requestKey } from '../../../../core/table/keys.ts';
import { queryProvider } from '../../../../core/waiting/query-provider.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anImageRequest,
  aStoredOutput,
  putRequest,
  REQUEST_ID,
} from '../../builders/entities.ts';
import { bucket } from '../../fakes/fresh-bucket.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';

const noProvider = async () => {
  throw new Error('No provider is to be called.');
};
const clock = new StoppedClock(atSeconds(30));
const UNKNOWN = { name: 'UnknownStatusError', message: expect.stringContaining('parked') };

/** Puts a request whose status another version wrote. */
const given = (attributes: Partial<ImageRequest> & Record<string, unknown> = {}): void => {
  putRequest(memory, anImageRequest({ status: 'processing', ...attributes }));
  memory.patch(requestKey(REQUEST_ID), { status: 'parked', ...attributes });
};
const ENDED = {
  finishedAt: NOW.toISOString(),
  refundThousandths: 4_000,
  webhookUrl: 'https://caller.example/hook',
};
/** All that is stored, and the files. */
const everything = () => [memory.get(requestKey(REQUEST_ID)), [...bucket.objects.keys()]];

describe('a request that is unfinished in a status of another version', () => {
  beforeEach(() => {
    given({ outputs: [aStoredOutput(0)] });
    bucket.put(String(aStoredOutput(0).objectKey));
  });

  test.each<[string, () => Promise<unknown>]>([
    ['settled', () => endRequest(REQUEST_ID, settled, { clock })],
    ['failed', () => endRequest(REQUEST_ID, failedBeforeStoring(UNEXPECTED_ERROR), { clock })],
    ['given up', () => endRequest(REQUEST_ID, givenUp(UNEXPECTED_ERROR), { clock })],
    ['dispatched', () => dispatchRequest(REQUEST_ID, noProvider, clock)],
    ['queried', () => queryProvider(REQUEST_ID, noProvider, clock)],
  ])('is not %s: that is an error, and nothing is written', async (_what, act) => {
    const before = everything();

    await expect(act()).rejects.toMatchObject(UNKNOWN);

    expect(everything()).toEqual(before);
    expect(memory.transactions).toEqual([]);
  });

  test('is stored no outputs', async () => {
    memory.remove(requestKey(REQUEST_ID));
    given();

    await expect(storeOutputs(REQUEST_ID, clock)).rejects.toMatchObject(UNKNOWN);
  });

  test('cannot be deleted', async () => {
    expect(await deleteRequest(ACCOUNT_ID, REQUEST_ID, NOW)).toEqual({ outcome: 'conflict' });
  });
});

describe('a request that ended in a status of another version', () => {
  const check = dueListing('CHECK', REQUEST_ID, NOW.toISOString());

  test('stays due with its files and webhook until that version is back', async () => {
    given({ ...ENDED, ...check, outputs: [aStoredOutput(0)] });
    bucket.put(String(aStoredOutput(0).objectKey));
    const before = everything();

    await expect(closeRequest(REQUEST_ID, removeFilesOfFailed, { clock })).rejects.toMatchObject(UNKNOWN);

    expect(everything()).toEqual(before);
    expect(executions.started).toEqual([]);
  });

  test('cannot be deleted, and keeps its files when they expire', async () => {
    const expiry = dueListing('EXPIRE', REQUEST_ID, NOW.toISOString());
    const expired = { costThousandths: 0, expiresAt: NOW.toISOString(), outputs: [aStoredOutput(0)] };
    given({ ...ENDED, ...expired, ...expiry });
    bucket.put(String(aStoredOutput(0).objectKey));
    const before = everything();

    expect(await deleteRequest(ACCOUNT_ID, REQUEST_ID, NOW)).toEqual({ outcome: 'conflict' });
    await expireRequests([REQUEST_ID], clock);

    expect(everything()).toEqual(before);
  });

  test('is verified against its ledger by its amounts', async () => {
    given(ENDED);

    const requests = await findAccountedRequests(ACCOUNT_ID, [REQUEST_ID]);

    expect(requests.get(REQUEST_ID)).toMatchObject({
      ...{ status: 'failed', debitThousandths: 4_000, refundThousandths: 4_000 },
    });
  });
});
