import type { RequestReport } from '../operator/report.ts';
import { LedgerTable } from '../parts/ledger-table.tsx';
import { ScrollFrame, Time } from '../parts/parts.tsx';
import { durationText } from '../parts/texts.ts';

type Attempt = RequestReport['providerAttempts'][number];

const outcomeText = ({ outcome }: Attempt): string => {
  if (!outcome) return 'not known yet';
  const { kind, reason, failure } = outcome;
  return [kind, reason, failure && `${failure.code}: ${failure.message}`].filter(Boolean).join(', ');
};

/** The calls to the provider, newest first. */
export const Attempts = ({ attempts }: { attempts: readonly Attempt[] }) => (
  <section aria-labelledby="attempts-heading">
    <h2 id="attempts-heading">Provider calls</h2>
    {attempts.length === 0 ? (
      <p class="quiet">The provider has not been called.</p>
    ) : (
      <ScrollFrame name="Provider calls">
        <table>
          <thead>
            <tr>
              <th scope="col">Call</th>
              <th scope="col">Attempt</th>
              <th scope="col">Started</th>
              <th scope="col">Took</th>
              <th scope="col">Outcome</th>
              <th scope="col">Task</th>
            </tr>
          </thead>
          <tbody>
            {attempts
              .toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1))
              .map((attempt) => (
                <tr key={`${attempt.call}-${attempt.attempt}`}>
                  <td>{attempt.call + 1}</td>
                  <td>{attempt.attempt + 1}</td>
                  <td>
                    <Time at={attempt.startedAt} />
                  </td>
                  <td>
                    {attempt.finishedAt === undefined
                      ? ''
                      : durationText(Date.parse(attempt.finishedAt) - Date.parse(attempt.startedAt))}
                  </td>
                  <td>{outcomeText(attempt)}</td>
                  <td>{attempt.taskId ?? ''}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </ScrollFrame>
    )}
  </section>
);

/** The attempts to deliver the webhook, newest first. Nothing without one. */
export const WebhookAttempts = ({ webhooks }: Pick<RequestReport, 'webhooks'>) =>
  webhooks.length === 0 ? null : (
    <section aria-labelledby="webhooks-heading">
      <h2 id="webhooks-heading">Webhook attempts</h2>
      <ScrollFrame name="Webhook attempts">
        <table>
          <thead>
            <tr>
              <th scope="col">Attempt</th>
              <th scope="col">Started</th>
              <th scope="col">Took</th>
              <th scope="col">Answer</th>
            </tr>
          </thead>
          <tbody>
            {webhooks.toReversed().map(({ delivery, number, startedAt, milliseconds, status, error }) => (
              <tr key={`${delivery}-${number}`}>
                <td>{number}</td>
                <td>
                  <Time at={startedAt} />
                </td>
                <td>{durationText(milliseconds)}</td>
                <td>{status ?? error}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollFrame>
    </section>
  );

/** The balance changes of the request. */
export const LedgerEntries = ({ entries }: { entries: RequestReport['ledgerEntries'] }) => (
  <section aria-labelledby="ledger-heading">
    <h2 id="ledger-heading">Ledger entries</h2>
    <LedgerTable name="Ledger entries" entries={entries} />
  </section>
);
