import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { renderRecord } from '../../../../core/requests/render-record.ts';
import { listRequests, type RequestFilter } from '../../../../core/requests/request-lists.ts';
import {
  type ImageRequest,
  isRemoved,
  RECORD_STATUSES,
  STORED_STATUSES,
  type StoredRequest,
  type StoredStatus,
} from '../../../../core/requests/request-rules.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anImageRequest, aStoredOutput, putRequest } from '../../builders/entities.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
const EMAILS = ['a@example.com', 'b@example.com', 'a@example.com.au'];
const MODELS = ['xSD4.5', 'xQI3Pro'];
const KINDS = { img: 'image', vid: 'video' } as const;
const OTHER_ACCOUNT = 'acc_01JD4KXQ8M0000000000000009';

const PREFIXES = ['img', 'vid'] as const;
const soon = fc.integer({ min: -3, max: 3 });
const aRequest = fc
  .record({
    createdAgoMs: fc.integer({ min: 0, max: 4 }),
    endUserEmail: fc.constantFrom(...EMAILS),
    accountId: fc.constantFrom(ACCOUNT_ID, ACCOUNT_ID, ACCOUNT_ID, OTHER_ACCOUNT),
    prefix: fc.constantFrom(...PREFIXES),
    status: fc.constantFrom(...STORED_STATUSES, 'succeeded' as const),
    model: fc.constantFrom(...MODELS),
    expiresInMs: soon,
    removedInSeconds: soon,
  })
  .map(({ createdAgoMs, prefix, expiresInMs, removedInSeconds, ...fields }): ImageRequest => {
    const createdAt = atSeconds(-createdAgoMs / 1000);
    const finishedAt = createdAt.toISOString();
    const endings: Record<StoredStatus, Partial<ImageRequest>> = {
      queued: {},
      processing: {},
      succeeded: {
        finishedAt,
        outputs: [aStoredOutput(0)],
        costThousandths: 4_000,
        expiresAt: atSeconds(expiresInMs / 1000).toISOString(),
        ttl: NOW.getTime() / 1000 + removedInSeconds,
      },
      failed: {
        finishedAt,
        error: { code: 'provider_error', message: 'It broke.' },
        ttl: NOW.getTime() / 1000 + removedInSeconds,
      },
    };
    return anImageRequest({
      ...fields,
      requestId: aRequestId(createdAt, prefix),
      createdAt: createdAt.toISOString(),
      ...endings[fields.status],
    });
  });
const anInstant = fc.option(
  soon.map((milliseconds) => atSeconds(milliseconds / 1000).toISOString()),
  { nil: undefined },
);
const aFilter = fc.record<RequestFilter>({
  endUserEmail: fc.constantFrom(undefined, ...EMAILS),
  status: fc.constantFrom(undefined, ...RECORD_STATUSES),
  model: fc.constantFrom(undefined, ...MODELS, 'xZI1.0Pro'),
  createdAfter: anInstant,
  createdBefore: anInstant,
});

/** The record a read of a request answers at `NOW`; undefined for 404. */
const readOf = (request: StoredRequest) => {
  if (request.accountId !== ACCOUNT_ID) return undefined;
  if (isRemoved(request, NOW)) return undefined;
  return renderRecord(request, { now: NOW, publicBaseUrl: 'https://a.example', signUrl: (key) => key });
};

/** The expected list: every readable record that the filter selects, newest first. */
const expectedOf = (requests: readonly ImageRequest[], prefix: string, filter: RequestFilter) =>
  requests
    .filter(({ requestId }) => requestId.startsWith(prefix))
    .flatMap((request) => readOf(request) ?? [])
    .filter(({ endUserEmail }) => filter.endUserEmail === undefined || endUserEmail === filter.endUserEmail)
    .filter(({ status }) => filter.status === undefined || status === filter.status)
    .filter(({ model }) => filter.model === undefined || model === filter.model)
    .filter(({ createdAt }) => filter.createdAfter === undefined || createdAt > filter.createdAfter)
    .filter(({ createdAt }) => filter.createdBefore === undefined || createdAt < filter.createdBefore)
    .sort((a, b) => (a.requestId > b.requestId ? -1 : 1));

test('every page of every filter holds what reads of all records would select', async () => {
  const pageSizes = fc.constantFrom(1, 2, 3, 5, 50);
  const itemsPerQuery = fc.constantFrom(1, 3, Number.POSITIVE_INFINITY);
  await fc.assert(
    fc.asyncProperty(
      fc.array(aRequest, { maxLength: 25 }),
      fc.constantFrom(...PREFIXES),
      aFilter,
      pageSizes,
      itemsPerQuery,
      async (requests, prefix, filter, pageSize, perQuery) => {
        memory.reset();
        memory.itemsPerQuery = perQuery;
        for (const request of requests) putRequest(memory, request);
        const expected = expectedOf(requests, prefix, filter);
        const pages = Math.ceil(expected.length / pageSize);

        for (let page = 1; page <= pages + 1; page++) {
          const found = await listRequests(
            { accountId: ACCOUNT_ID, kind: KINDS[prefix], filter, now: NOW },
            { page, pageSize },
          );

          expect(found.items.map((request) => readOf(request))).toEqual(
            expected.slice((page - 1) * pageSize, page * pageSize),
          );
          expect(found.hasMore).toBe(page < pages);
          expect(found).not.toHaveProperty('nextCreatedBefore');
        }
      },
    ),
    { numRuns: 300 },
  );
});
