import { formatFields, formatTable } from './output.ts';
import type { renderReport } from './request-json.ts';
import { formatTimeline } from './timeline.ts';

/** A report for people: its fields, the timeline, every event, and the files. */
export const formatReport = (
  { record, account, operatorNote, objects, story, spans }: ReturnType<typeof renderReport>,
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
  const events = formatTable(
    ['time', 'what', 'detail'],
    story.map(({ at, what, detail }) => [at, what, detail]),
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
  return [fields, formatTimeline(spans, now, columns), events, files].join('\n\n');
};
