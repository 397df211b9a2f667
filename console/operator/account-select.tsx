import type { AccountListing } from './operator.ts';

interface AccountSelectProps {
  label: string;
  accounts: readonly AccountListing[];
  accountId: string;
  /** Offers no account too, under this name. */
  none?: string;
  onAccount: (accountId: string) => void;
}

/** A choice of one of the accounts, by name and id. */
export const AccountSelect = ({ label, accounts, accountId, none, onAccount }: AccountSelectProps) => (
  <label>
    {label}{' '}
    <select value={accountId} onInput={(event) => onAccount(event.currentTarget.value)}>
      {none !== undefined && <option value="">{none}</option>}
      {accounts.map(({ accountId: id, name }) => (
        <option key={id} value={id}>
          {name} ({id})
        </option>
      ))}
    </select>
  </label>
);
