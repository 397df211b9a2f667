import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { OperatorError, readReport } from '../operator/operator.ts';
import type { RequestReport } from '../operator/report.ts';
import { CopyButton, Heading, Problem, StatusBadge, Time } from '../parts/parts.tsx';
import { xTokensText } from '../parts/texts.ts';
import { now } from '../state/clock.ts';
import { type AnyRecord, isFinished, isVideoId, outputsOf, statusAt } from '../state/record-rules.ts';
import { messageOf, readOne, recordOf } from '../state/records.ts';
import { hrefOf } from '../state/route.ts';
import { operatorToken } from '../state/session.ts';
import { StateGraph } from './graph.tsx';
import { Outputs } from './outputs.tsx';
import { Attempts, LedgerEntries, WebhookAttempts } from './report-tables.tsx';
import { wayOf } from './state-graph.ts';
import { Timeline } from './timeline.tsx';

/** A request: what it is and made, and for the local operator its story. */
export const RequestPage = ({ requestId }: { requestId: string }) => {
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    readOne(requestId)
      .then((isThere) => {
        if (!isThere) problem.value = `There is no request ${requestId}.`;
      })
      .catch((error) => {
        problem.value = messageOf(error);
      });
  }, [requestId]);
  const record = recordOf(requestId);
  return (
    <>
      <Heading>{isVideoId(requestId) ? 'Request for a video' : 'Request for images'}</Heading>
      <p class="copied">
        <code>{requestId}</code> <CopyButton text={requestId} label="Copy the id" />
      </p>
      <Problem text={problem.value} />
      {record && <Summary record={record} />}
      {record && operatorToken.value !== undefined && <Story record={record} />}
      {record && operatorToken.value === undefined && (
        <p class="quiet">
          Timeline, states, attempts and ledger entries are for the operator of a local run, who opens the
          address that <code>npm start</code> prints.
        </p>
      )}
    </>
  );
};

const Summary = ({ record }: { record: AnyRecord }) => (
  <>
    {record.status === 'failed' && (
      <p class="problem">
        <strong>{record.error.code}</strong>: {record.error.message} It is refunded in full.
      </p>
    )}
    <dl class="summary">
      <Fact name="Status">
        <StatusBadge status={statusAt(record, now.value)} />
      </Fact>
      <Fact name="Model">{record.model}</Fact>
      <Fact name="End-user">{record.endUserEmail}</Fact>
      <Fact name="Created">
        <Time at={record.createdAt} />
      </Fact>
      {'finishedAt' in record && (
        <Fact name="Ended">
          <Time at={record.finishedAt} />
        </Fact>
      )}
      {'cost' in record && <Fact name="Cost">{xTokensText(record.cost)} xTokens</Fact>}
    </dl>
    <div class="copied">
      <p class="prompt">{record.prompt}</p> <CopyButton text={record.prompt} label="Copy the prompt" />{' '}
      <a
        href={hrefOf('make', {
          model: record.model,
          prompt: record.prompt,
          endUserEmail: record.endUserEmail,
        })}
      >
        Make one like it
      </a>
    </div>
    {record.status !== 'failed' && <Outputs record={record} isLarge />}
  </>
);

const Fact = ({ name, children }: { name: string; children: preact.ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const POLL_MILLISECONDS = 5_000;

const Story = ({ record }: { record: AnyRecord }) => {
  const report = useSignal<RequestReport | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const { requestId, status } = record;
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    const read = async () => {
      try {
        if (!document.hidden) report.value = await readReport(requestId);
        problem.value = undefined;
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error;
        problem.value = error.message;
      }
      if (!isOver && (!isFinished({ status }) || isGoingOn(report.peek()))) {
        timer = setTimeout(read, POLL_MILLISECONDS);
      }
    };
    read();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [requestId, status]);
  const told = report.value;
  if (!told)
    return problem.value ? <Problem text={problem.value} /> : <p class="quiet">Reading its story …</p>;
  const expiresAt = outputsOf(record)[0]?.expiresAt;
  const way = wayOf(told, { ...record, status: statusAt(record, now.value), expiresAt }, now.value);
  return (
    <>
      <Problem text={problem.value} />
      <Timeline spans={told.spans} now={now.value} />
      <StateGraph way={way} />
      <Attempts attempts={told.providerAttempts} />
      <WebhookAttempts webhooks={told.webhooks} />
      <LedgerEntries entries={told.ledgerEntries} />
    </>
  );
};

/** Whether an execution still runs: that of the request, or of its webhook. */
const isGoingOn = (report: RequestReport | undefined): boolean =>
  report?.executions.some(({ stoppedAt }) => stoppedAt === null) ?? false;
