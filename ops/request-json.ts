import { requiredEnv } from '../core/environment.ts';
import { renderLedgerEntry } from '../core/ledger/ledger.ts';
import { toXTokens } from '../core/money.ts';
import { takenOf } from '../core/provider-calls/attempt-rules.ts';
import { imageInput, renderRecord, videoInput } from '../core/requests/render-record.ts';
import type { ProviderCost, StoredRequest } from '../core/requests/request-rules.ts';
import type { RequestReport } from './request-report.ts';
import { tellSpans } from './request-spans.ts';

/** A record as the API shows it at `now`, without signed URLs: operators can read the bucket, and anyone who sees a URL in a log can fetch the file. */
const renderUnsigned = (request: StoredRequest, now: Date) => {
  const publicBaseUrl = requiredEnv('PUBLIC_BASE_URL');
  const record = renderRecord(request, { now, publicBaseUrl, signUrl: () => '' });
  if ('images' in record) return { ...record, images: record.images.map(withoutUrl) };
  if ('videos' in record) return { ...record, videos: record.videos.map(withoutUrl) };
  return record;
};

const withoutUrl = <Item extends object>(item: Item): Omit<Item, 'url'> => {
  const { url: _, ...rest } = item as Item & { url?: string };
  return rest;
};

/** A file of ours that a request names, for operators: its object key. */
const asStored = (objectKey: string): string => objectKey;

/** A failed record with the operator's note, or null. */
export const renderFailed = (request: StoredRequest, now: Date) => ({
  ...renderUnsigned(request, now),
  operatorNote: request.operatorNote ?? null,
});

/** A report as `--json` prints it. It leaves out the task token, which could wake the execution. */
export const renderReport = (report: RequestReport, now: Date) => {
  const { request, account, entries, executions, attempts, wait, webhooks, outlook } = report;
  const { accountId, name, balanceThousandths, blockedAt = null } = account;
  const { waitingSince = null, queriedAt = null, calledBackAt = null } = wait ?? {};
  return {
    record: renderUnsigned(request, now),
    ...(outlook && { outlook }),
    operatorNote: request.operatorNote ?? null,
    webhookUrl: request.webhookUrl ?? null,
    input: request.kind === 'image' ? imageInput(request, asStored) : videoInput(request, asStored),
    account: { accountId, name, xTokens: toXTokens(balanceThousandths), blockedAt },
    ledgerEntries: entries.map(renderLedgerEntry),
    executions,
    providerAttempts: attempts.map(({ requestId: _, ...attempt }) => ({
      ...attempt,
      taken: takenOf(attempt),
    })),
    ...(request.providerCosts && { providerCosts: request.providerCosts.map(renderCost) }),
    wait: wait ? { waitingSince, queriedAt, calledBackAt } : null,
    webhooks: webhooks.map(({ requestId: _, ...attempt }) => attempt),
    objects: renderObjects(report),
    spans: tellSpans(report, now),
  };
};

const renderCost = ({ route, costThousandths, reportedThousandths }: ProviderCost) => ({
  route,
  cost: costThousandths === undefined ? null : toXTokens(costThousandths),
  reported: reportedThousandths === undefined ? null : toXTokens(reportedThousandths),
});

/** Every file in the record or in the bucket, sorted by key. */
const renderObjects = ({ request, files }: RequestReport) => {
  const recorded = new Map(
    (request.outputs ?? []).flatMap((output) => (output.objectKey ? [[output.objectKey, output]] : [])),
  );
  const stored = new Map(files.map((file) => [file.objectKey, file]));
  return [...new Set([...recorded.keys(), ...stored.keys()])].sort().map((objectKey) => ({
    objectKey,
    recorded: recorded.has(objectKey),
    stored: stored.has(objectKey),
    sizeBytes: stored.get(objectKey)?.sizeBytes ?? recorded.get(objectKey)?.sizeBytes ?? null,
    contentType: recorded.get(objectKey)?.contentType ?? null,
    storedAt: stored.get(objectKey)?.storedAt ?? null,
  }));
};
