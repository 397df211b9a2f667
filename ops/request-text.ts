import type { ExecutionStatus } from '@aws-sdk/client-sfn';
import { SETTLED_ERRORS } from '../core/executions/execution-statuses.ts';
import { formatEntries } from './ledger-text.ts';
import { type Cell, formatFields, formatTable } from './output.ts';
import type { renderReport } from './request-json.ts';
import type { Outlook } from './story-span.ts';
import { formatTimeline } from './timeline.ts';

/** The end of an execution, for people. That of a failed request fails with the request's error. */
const EXECUTION_WORDS: Readonly<Record<ExecutionStatus, string>> = {
  RUNNING: 'running',
  SUCCEEDED: 'ran to its end',
  FAILED: 'broke off',
  TIMED_OUT: 'ran out of time',
  ABORTED: 'was stopped',
  PENDING_REDRIVE: 'waits for a redrive',
};

/** The input of a request by field, without empty lists. */
const describeInput = ({
  webhookUrl: _,
  ...input
}: ReturnType<typeof renderReport>['input']): Record<string, Cell> =>
  Object.fromEntries(
    Object.entries(input).flatMap(([field, value]): [string, Cell][] => {
      if (Array.isArray(value)) return value.length === 0 ? [] : [[field, value.join(' ')]];
      if (typeof value === 'object') return Object.entries(value);
      return [[field, typeof value === 'boolean' ? String(value) : value]];
    }),
  );

const costText = ({
  route,
  cost,
  reported,
}: NonNullable<ReturnType<typeof renderReport>['providerCosts']>[number]): string =>
  `${cost ?? 'not known'} at ${route}${reported === null ? '' : `, ${reported} by its usage`}`;

/** The seconds that something takes, roughly. */
const aboutText = (seconds: number): string => (seconds === 0 ? 'longer than usual' : `about ${seconds} s`);

/** An outlook for people: `its turn at …, 5 of 5 running: 3 of 12, about 40 s`. */
export const outlookText = ({ waitsFor, position, queued, aboutSeconds }: Outlook): string => {
  const place = position === null ? waitsFor : `${waitsFor}: ${position} of ${queued}`;
  return aboutSeconds === null ? place : `${place}, ${aboutText(aboutSeconds)}`;
};

type Report = ReturnType<typeof renderReport>;

/** A report for people: its fields, the timeline and its details, the ledger entries, the executions, and the files. */
export const formatReport = (report: Report, now: Date, columns: number | undefined): string => {
  const { ledgerEntries, executions, objects, spans } = report;
  const details = formatTable(
    ['time', 'what', 'detail'],
    spans.flatMap(({ from, label, detail }) => (detail === undefined ? [] : [[from, label, detail]])),
    columns,
  );
  return [
    formatRecord(report, columns),
    formatTimeline(spans, now, columns),
    details,
    formatEntries(ledgerEntries, columns),
    formatExecutions(executions, columns),
    formatFiles(objects, columns),
  ].join('\n\n');
};

const formatRecord = (
  { record, outlook, account, operatorNote, webhookUrl, input, providerCosts = [] }: Report,
  columns: number | undefined,
): string =>
  formatFields(
    {
      request: record.requestId,
      status: record.status,
      ...(outlook && { waitsFor: outlookText(outlook) }),
      model: record.model,
      account: `${account.accountId} (${account.name})`,
      endUser: record.endUserEmail,
      prompt: record.prompt,
      ...describeInput(input),
      webhook: webhookUrl,
      note: operatorNote,
      ...(providerCosts.length > 0 && { providerCost: providerCosts.map(costText).join('; ') }),
    },
    columns,
  );

const formatExecutions = (executions: Report['executions'], columns: number | undefined): string =>
  formatTable(
    ['workflow', { id: 'execution' }, 'started', 'stopped', 'status', 'error', 'cause'],
    executions.map(({ workflow, name, startedAt, stoppedAt, status, error, cause }) => [
      workflow,
      name,
      startedAt,
      stoppedAt,
      error !== null && SETTLED_ERRORS.includes(error) ? 'failed with its request' : EXECUTION_WORDS[status],
      error,
      cause,
    ]),
    columns,
  );

const formatFiles = (objects: Report['objects'], columns: number | undefined): string =>
  formatTable(
    [{ id: 'file' }, 'bytes', 'in the record', 'in the bucket'],
    objects.map(({ objectKey, sizeBytes, recorded, stored }) => [
      objectKey,
      sizeBytes,
      recorded ? 'yes' : 'no',
      stored ? 'yes' : 'no',
    ]),
    columns,
  );
