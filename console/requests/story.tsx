import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Outlook } from '../../ops/story-span.ts';
import { lostConnection } from '../operator/connection.ts';
import { OperatorError, readReport } from '../operator/operator.ts';
import type { RequestReport } from '../operator/report.ts';
import { Problem } from '../parts/parts.tsx';
import { durationText } from '../parts/texts.ts';
import { now } from '../state/clock.ts';
import { useLive } from '../state/live.ts';
import { type AnyRecord, isFinished, outputsOf, statusAt } from '../state/record-rules.ts';
import { StateGraph } from './graph.tsx';
import { Attempts, Transactions } from './report-tables.tsx';
import { wayOf } from './state-graph.ts';
import { Timeline } from './timeline.tsx';
import { Webhooks } from './webhooks.tsx';

interface StoryProps {
  requestId: string;
  /** The record, where it is known. */
  record: AnyRecord | undefined;
  /** Called with the record as operators see it. */
  onRecord: (record: AnyRecord) => void;
}

/** Everything stored about a request, for operators. Live while something goes on. */
export const Story = ({ requestId, record, onRecord }: StoryProps) => {
  const report = useSignal<RequestReport | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const read = async () => {
    try {
      report.value = await readReport(requestId);
      onRecord(report.value.record);
      problem.value = undefined;
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      problem.value = error.message;
    }
  };
  useEffect(() => {
    read();
  }, [requestId, record?.status, lostConnection.value]);
  useLive(async () => {
    if (isGoingOn(report.peek())) await read();
  }, [requestId]);
  const told = report.value;
  if (!told)
    return problem.value ? <Problem text={problem.value} /> : <p class="quiet">Loading its story …</p>;
  const shown = record ?? told.record;
  const expiresAt = outputsOf(shown)[0]?.expiresAt;
  const way = wayOf(told, { ...shown, status: statusAt(shown, now.value), expiresAt }, now.value);
  return (
    <>
      <Problem text={problem.value} />
      <p class="quiet">
        Account: {told.account.name} ({told.account.accountId})
      </p>
      {told.outlook && <OutlookText outlook={told.outlook} />}
      <Timeline spans={told.spans} now={now.value} />
      <StateGraph way={way} />
      <Attempts attempts={told.providerAttempts} />
      <Webhooks report={told} isOver={isFinished(shown)} onSent={read} />
      <Transactions entries={told.ledgerEntries} />
    </>
  );
};

/** How it goes on, as operators see it. */
const OutlookText = ({ outlook: { waitsFor, position, queued, aboutSeconds } }: { outlook: Outlook }) => (
  <p>
    <strong>Waits for {waitsFor}.</strong>
    {position !== null && ` Position ${position} of ${queued} in the queue.`}
    {aboutSeconds !== null &&
      (aboutSeconds === 0
        ? ' It takes longer than usual.'
        : ` About ${durationText(aboutSeconds * 1_000)} are left.`)}
  </p>
);

/** Whether something is still to come: the request is unfinished, or an execution runs, its webhook's too. */
const isGoingOn = (report: RequestReport | undefined): boolean =>
  report !== undefined &&
  (!isFinished(report.record) || report.executions.some(({ stoppedAt }) => stoppedAt === null));
