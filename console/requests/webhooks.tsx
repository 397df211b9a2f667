import { useSignal } from '@preact/signals';
import { OperatorError, resendWebhook } from '../operator/operator.ts';
import type { RequestReport } from '../operator/report.ts';
import { Problem, Time } from '../parts/parts.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { durationText } from '../parts/texts.ts';
import { show } from '../state/notices.ts';

type Attempt = RequestReport['webhooks'][number];

const COLUMNS: readonly Column<Attempt>[] = [
  { head: 'Attempt', cell: ({ number }) => number },
  { head: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
  { head: 'Took', cell: ({ milliseconds }) => durationText(milliseconds) },
  { head: 'Answer', isLong: true, cell: ({ status, error }) => status ?? error },
];

interface WebhooksProps {
  report: Pick<RequestReport, 'webhooks' | 'webhookUrl' | 'record'>;
  /** Whether the request has ended: nothing is sent before. */
  isOver: boolean;
  /** Called once it is being sent again. */
  onSent: () => Promise<void>;
}

/** The attempts to deliver the webhook, newest first, and to send it again. Nothing without a webhook. */
export const Webhooks = ({ report, isOver, onSent }: WebhooksProps) => {
  const problem = useSignal<string | undefined>(undefined);
  const isSending = useSignal(false);
  const { webhooks, webhookUrl, record } = report;
  if (webhookUrl === null) return null;
  const resend = async () => {
    if (isSending.value) return;
    isSending.value = true;
    try {
      await resendWebhook(record.requestId);
      show('The webhook is being sent again.');
      problem.value = undefined;
      await onSent();
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      problem.value = error.message;
    } finally {
      isSending.value = false;
    }
  };
  return (
    <section aria-labelledby="webhooks-heading">
      <h2 id="webhooks-heading">Webhook attempts</h2>
      <p class="wraps">
        To <code>{webhookUrl}</code>
      </p>
      <Problem text={problem.value} />
      {webhooks.length === 0 ? (
        <p class="quiet">Not sent yet.</p>
      ) : (
        <Table
          name="Webhook attempts"
          columns={COLUMNS}
          rows={webhooks.toReversed()}
          keyOf={({ delivery, number }) => `${delivery}-${number}`}
        />
      )}
      {isOver && (
        <p>
          <button type="button" onClick={resend} aria-disabled={isSending.value} aria-busy={isSending.value}>
            Resend webhook
          </button>
        </p>
      )}
    </section>
  );
};
