import type { BalanceHistoryEntry } from '../../packages/client/src/types.ts';
import { hrefOf } from '../state/route.ts';
import { ScrollFrame, Time } from './parts.tsx';
import { xTokensText } from './texts.ts';

interface LedgerTableProps {
  name: string;
  entries: readonly BalanceHistoryEntry[];
  /** Whether each entry names what it is for; needless where all are of one request. */
  showsReference?: boolean;
}

/** Changes of the balance, a row each. */
export const LedgerTable = ({ name, entries, showsReference = false }: LedgerTableProps) => (
  <ScrollFrame name={name}>
    <table>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Reason</th>
          <th scope="col" class="number">
            xTokens
          </th>
          <th scope="col" class="number">
            Balance after
          </th>
          {showsReference && <th scope="col">Reference</th>}
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.id}>
            <td>
              <Time at={entry.createdAt} />
            </td>
            <td>{entry.reason}</td>
            <td class="number">
              {entry.type === 'debit' ? '−' : '+'}
              {xTokensText(entry.amount)}
            </td>
            <td class="number">{xTokensText(entry.balanceAfter)}</td>
            {showsReference && (
              <td>
                {isOfRequest(entry) ? (
                  <a href={hrefOf(`requests/${entry.reference}`)}>{entry.reference}</a>
                ) : (
                  entry.reference
                )}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollFrame>
);

const isOfRequest = ({ reason }: BalanceHistoryEntry): boolean =>
  reason === 'generation' || reason === 'refund';
