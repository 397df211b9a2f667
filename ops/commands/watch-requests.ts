import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { getAccount, listAccounts } from '../../core/accounts/accounts.ts';
import { isTerminal, RECORD_STATUSES, type RecordStatus } from '../../core/requests/request-rules.ts';
import { systemClock } from '../../core/time.ts';
import { recordStatus, seconds, text } from '../options.ts';
import { formatTable } from '../output.ts';
import { loadRequestReport, type RequestReport } from '../request-report.ts';
import { tellSpans } from '../request-spans.ts';
import { outlookText } from '../request-text.ts';
import { type WatchedRequest, watchRequests } from '../request-watch.ts';
import { createScreen } from '../screen.ts';
import { about } from '../subject.ts';
import { formatSpan, formatTimeline } from '../timeline.ts';
import { type Perform, type Streams, UsageError, type Verb } from '../verb.ts';

/** Seconds between two checks. */
const DEFAULT_PAUSE_SECONDS = 2;

/** `requests watch` */
export const addWatchRequestsVerb = (requests: Command, perform: Perform): void => {
  const command = requests
    .command('watch')
    .description('unfinished and new requests as they change, until Ctrl-C');
  about(command, 'id', 'only this request, as a timeline, until it and its webhook end', {
    isRequired: false,
  })
    .option('--account <id>', 'only this account', text)
    .addOption(
      new Option('--status <status>', 'only while in this status')
        .choices(RECORD_STATUSES)
        .argParser(recordStatus),
    )
    .addOption(
      new Option('--every <time>', 'pause between two checks')
        .default(DEFAULT_PAUSE_SECONDS, `${DEFAULT_PAUSE_SECONDS}s`)
        .argParser(seconds),
    )
    .option('--for <time>', 'end after this time: 90s, 10m', seconds)
    .action(perform(watch));
};

interface WatchOptions {
  account?: string;
  status?: RecordStatus;
  id?: string;
  every: number;
  for?: number;
}

const watch: Verb<WatchOptions> = async (options, connected, { streams, json, quiet }) => {
  if (json) {
    throw new UsageError('A watch is not one JSON value. Use requests list or requests show with --json.');
  }
  if (options.id !== undefined && (options.account !== undefined || options.status !== undefined)) {
    throw new UsageError('Give --id without --account and --status.');
  }
  await connected();
  quiet();
  const interrupt = streams.catchInterrupt?.();
  const check = options.id === undefined ? listChecks(options, streams) : requestChecks(options.id, streams);
  const startedAt = systemClock.now().getTime();
  const endsAt = options.for === undefined ? Number.POSITIVE_INFINITY : startedAt + options.for * 1000;
  while (await check()) {
    const leftMs = endsAt - systemClock.now().getTime();
    if (interrupt?.aborted || leftMs <= 0) break;
    const pauseMs = Math.min(options.every * 1000, leftMs);
    await pause(pauseMs, undefined, interrupt && { signal: interrupt }).catch((error: unknown) => {
      if (!interrupt?.aborted) throw error;
    });
    if (interrupt?.aborted) break;
  }
  return undefined;
};

/** Reads the current state and shows it. Resolves to whether it may still change. */
type Check = () => Promise<boolean>;

const listChecks = ({ account, status }: WatchOptions, streams: Streams): Check => {
  const accounts = async () => (account === undefined ? listAccounts() : [await getAccount(account)]);
  const find = watchRequests(accounts, systemClock.now());
  const screen = createScreen(streams);
  const seen = new Map<string, RecordStatus>();
  return async () => {
    const now = systemClock.now();
    const rows = (await find(now)).filter((row) => status === undefined || row.status === status);
    if (screen) screen(formatList(rows, now, streams));
    else for (const line of changesIn(rows, seen)) streams.out(`${now.toISOString()} ${line}\n`);
    for (const row of rows) seen.set(row.requestId, row.status);
    return true;
  };
};

/** Ids of requests and accounts, a time, a status and a model. */
const COLUMNS_WITH_ACCOUNT = 105;

/** As many rows as the terminal shows, below a line of what there is. */
const formatList = (
  rows: readonly WatchedRequest[],
  now: Date,
  { columns, rows: height = 24 }: Streams,
): string => {
  const open = rows.filter(({ status }) => status === 'queued' || status === 'processing').length;
  const shown = rows.slice(0, Math.max(1, height - 5));
  const more = rows.length > shown.length ? `, the newest ${shown.length} shown` : '';
  // One line a row: where the account finds no room, requests show says it.
  const hasRoom = columns === undefined || columns >= COLUMNS_WITH_ACCOUNT;
  // Requests queue at a full route only.
  const hasQueue = shown.some(({ position }) => position !== undefined);
  const table = formatTable(
    [
      'created',
      { id: 'request' },
      ...(hasRoom ? [{ id: 'account' }] : []),
      'status',
      ...(hasQueue ? ['queue'] : []),
      'model',
    ],
    shown.map((row) => [
      ...[row.createdAt, row.requestId, ...(hasRoom ? [row.accountId] : [])],
      ...[row.status, ...(hasQueue ? [row.position] : []), row.model],
    ]),
    columns,
  );
  const head = `${now.toISOString().slice(11, 19)} UTC: ${open} unfinished, ${rows.length - open} ended${more}. Ctrl-C ends.`;
  return `${head}\n\n${table}`;
};

/** A line for each request that is new or has changed its status, oldest first. */
const changesIn = (rows: readonly WatchedRequest[], seen: ReadonlyMap<string, RecordStatus>): string[] =>
  rows.toReversed().flatMap(({ requestId, accountId, model, status }) => {
    const before = seen.get(requestId);
    if (before === status) return [];
    const change = before === undefined ? status : `${before} -> ${status}`;
    return [`${requestId} ${change} ${model} ${accountId}`];
  });

const requestChecks = (requestId: string, streams: Streams): Check => {
  const screen = createScreen(streams);
  const shown = new Set<string>();
  return async () => {
    const now = systemClock.now();
    const report = await loadRequestReport(requestId, now);
    const spans = tellSpans(report, now);
    if (screen) {
      const { status, model } = report.request;
      const waits = report.outlook ? `, waits for ${outlookText(report.outlook)}` : '';
      const goesOn = isTerminal(report.request) ? '' : ' the watch; a request cannot be cancelled';
      const head = `${requestId}, ${model}: ${status}${waits}. Ctrl-C ends${goesOn}.`;
      screen(`${head}\n\n${formatTimeline(spans, now, streams.columns)}`);
    }
    // The time left changes with each look.
    const waits = report.outlook
      ? [`waits for ${outlookText({ ...report.outlook, aboutSeconds: null })}`]
      : [];
    for (const line of screen ? [] : [...spans.map(formatSpan), ...waits]) {
      if (!shown.has(line)) streams.out(`${line}\n`);
      shown.add(line);
    }
    return !isOver(report);
  };
};

/** Whether nothing happens any more but the expiry of its files. A webhook delivery starts before the execution of its request ends. */
const isOver = ({ request, executions }: RequestReport): boolean =>
  isTerminal(request) && executions.every(({ status }) => status !== 'RUNNING');
