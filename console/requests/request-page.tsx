import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { CopyButton, Heading, Problem, ScrollFrame, StatusBadge } from '../parts/parts.tsx';
import { Skeleton } from '../parts/placeholders.tsx';
import { now } from '../state/clock.ts';
import { useLive } from '../state/live.ts';
import { type AnyRecord, isFinished, isVideoId, statusAt } from '../state/record-rules.ts';
import { messageOf, readOne, recordOf } from '../state/records.ts';
import { client, operatorToken } from '../state/session.ts';
import { DeleteButton } from './delete-button.tsx';
import { Story } from './story.tsx';
import { Reuse, Summary } from './summary.tsx';
import { Waiting } from './waiting.tsx';

/** The account's own record of a request, read until it is finished, and the problem of the last read. */
const useOwnRecord = (requestId: string) => {
  const problem = useSignal<string | undefined>(undefined);
  const read = async () => {
    if (!client.peek()) return;
    try {
      const isThere = await readOne(requestId);
      // An operator reads on: the request may be another account's.
      const isMissing = !isThere && operatorToken.value === undefined;
      problem.value = isMissing ? `There is no request ${requestId}.` : undefined;
    } catch (error) {
      problem.value = messageOf(error);
    }
  };
  useEffect(() => {
    read();
  }, [requestId]);
  const own = recordOf(requestId);
  useLive(async () => {
    if (own && !isFinished(own)) await read();
  }, [requestId, own && isFinished(own)]);
  return { own, problem };
};

/** A request: what was asked and made, and for an operator its story. */
export const RequestPage = ({ requestId }: { requestId: string }) => {
  const { own, problem } = useOwnRecord(requestId);
  /** The record of another account, which an operator sees. */
  const seenByOperator = useSignal<AnyRecord | undefined>(undefined);
  const isOperator = operatorToken.value !== undefined;
  const record = own ?? seenByOperator.value;
  return (
    <>
      <div class="page-head">
        <Heading title={`${requestId} · Requests`}>
          {isVideoId(requestId) ? 'Request for a video' : 'Request for images'}
        </Heading>
        {own && <Reuse record={own} />}
      </div>
      <p class="copied">
        <code>{requestId}</code> <CopyButton text={requestId} label="Copy the ID" />{' '}
        {record && <StatusBadge status={statusAt(record, now.value)} />}
      </p>
      <Problem text={problem.value} />
      {!record && problem.value === undefined && <Skeleton />}
      {record && <Summary record={record} />}
      {own && !isFinished(own) && <Waiting record={own} />}
      {own && (
        <p>
          <DeleteButton record={own} />
        </p>
      )}
      {isOperator ? (
        <Story
          requestId={requestId}
          record={record}
          onRecord={(read) => {
            seenByOperator.value = read;
          }}
        />
      ) : (
        record && (
          <p class="quiet">
            Timeline, states, provider calls, webhook attempts and transactions are shown to operators only.
          </p>
        )
      )}
      {record && <RawJson record={record} />}
    </>
  );
};

const RawJson = ({ record }: { record: AnyRecord }) => {
  const text = JSON.stringify(record, null, 2);
  return (
    <details class="samples">
      <summary>Raw JSON</summary>
      <p>
        <CopyButton text={text} label="Copy the JSON" />
      </p>
      <ScrollFrame name="Raw JSON">
        <pre>
          <code>{text}</code>
        </pre>
      </ScrollFrame>
    </details>
  );
};
