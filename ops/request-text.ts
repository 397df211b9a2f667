import { formatEntries } from './ledger-text.ts';
import { formatFields, formatTable } from './output.ts';
import type { renderReport } from './request-json.ts';
import { formatTimeline } from './timeline.ts';

/** A report for people: its fields, the timeline and its details, the ledger entries, the executions, and the files. */
export const formatReport = (
  {
    record,
    account,
    operatorNote,
    ledgerEntries,
    executions,
    objects,
    spans,
  }: ReturnType<typeof renderReport>,
  now: Date,
  columns: number | undefined,
): string => {
  const fields = formatFields(
    {
      request: record.requestId,
      status: record.status,
      model: record.model,
      account: `${account.accountId} (${account.name})`,
      endUser: record.endUserEmail,
      note: operatorNote,
    },
    columns,
  );
  const details = formatTable(
    ['time', 'what', 'detail'],
    spans.flatMap(({ from, label, detail }) => (detail === undefined ? [] : [[from, label, detail]])),
    columns,
  );
  const runs = formatTable(
    ['workflow', { title: 'execution', fit: 'cut' }, 'started', 'stopped', 'status', 'error', 'cause'],
    executions.map(({ workflow, name, startedAt, stoppedAt, status, error, cause }) => [
      workflow,
      name,
      startedAt,
      stoppedAt,
      status,
      error,
      cause,
    ]),
    columns,
  );
  const files = formatTable(
    [{ title: 'file', fit: 'cut' }, 'bytes', 'in the record', 'in the bucket'],
    objects.map(({ objectKey, sizeBytes, recorded, stored }) => [
      objectKey,
      sizeBytes,
      recorded ? 'yes' : 'no',
      stored ? 'yes' : 'no',
    ]),
    columns,
  );
  const timeline = formatTimeline(spans, now, columns);
  return [fields, timeline, details, formatEntries(ledgerEntries, columns), runs, files].join('\n\n');
};
