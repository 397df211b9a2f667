import { useSignal } from '@preact/signals';
import { Heading, Problem } from '../parts/parts.tsx';
import { open, replaceQuery, route } from '../state/route.ts';
import { accountIdOf, apiKey, operatorToken } from '../state/session.ts';
import { AccountSelect } from './account-select.tsx';
import { AllRequests } from './all-requests.tsx';
import { Audit } from './audit.tsx';
import { AccountBalance } from './balance.tsx';
import { lostConnection } from './connection.ts';
import { EndUsers } from './end-users.tsx';
import { Keys } from './keys.tsx';
import { type AccountListing, listAccounts, listRates, readVersion } from './operator.ts';
import { Rates } from './rates.tsx';
import { Routes } from './routes.tsx';
import { useReading } from './use-operator.ts';

const readService = async (): Promise<string> => {
  const { service, version } = await readVersion();
  return [service, version].filter(Boolean).join(', version ');
};

/** Requests, accounts with their keys, balances and end-users, rates, routes and the audit, for operators. */
export const OperatorPage = () => {
  const service = useReading(readService, []);
  const accounts = useReading(listAccounts, []);
  const rates = useReading(() => listRates(), []);
  const changes = useSignal(0);
  const changed = () => {
    changes.value += 1;
  };
  const all = accounts.value.value ?? [];
  return (
    <>
      <Heading>Operator</Heading>
      {service.value.value !== undefined && <p class="quiet">Service: {service.value.value}</p>}
      <Problem text={lostConnection.value} />
      <Problem text={service.problem.value} />
      {operatorToken.value === undefined && <p>Open the address that the terminal shows.</p>}
      <FindRequest />
      <AllRequests accounts={all} models={(rates.value.value ?? []).map(({ model }) => model)} />
      <Account
        accounts={all}
        onChange={() => {
          changed();
          accounts.reload();
        }}
      />
      <Rates
        rates={rates.value.value}
        problem={rates.problem.value}
        onChange={(rate) => {
          changed();
          rates.value.value = rates.value.peek()?.map((one) => (one.model === rate.model ? rate : one));
        }}
      />
      <Routes />
      <Audit accounts={all} changes={changes.value} />
    </>
  );
};

interface AccountProps {
  accounts: readonly AccountListing[];
  /** Called after a change. */
  onChange: () => void;
}

/** Balance, keys and end-users of one account: that of the key in use, unless another account is chosen. */
const Account = ({ accounts, onChange }: AccountProps) => {
  const chosen = route.value.query.get('account') ?? accountIdOf(apiKey.value ?? '');
  const account = accounts.find(({ accountId }) => accountId === chosen) ?? accounts[0];
  if (!account) return null;
  return (
    <>
      <p>
        <AccountSelect
          label="Account"
          accounts={accounts}
          accountId={account.accountId}
          onAccount={(accountId) => replaceQuery('operator', { account: accountId })}
        />
      </p>
      <div key={account.accountId}>
        <AccountBalance account={account} onChange={onChange} />
        <Keys account={account} onChange={onChange} />
        <EndUsers account={account} />
      </div>
    </>
  );
};

/** Opens the page of a request of any account. */
const FindRequest = () => {
  const requestId = useSignal('');
  return (
    <form
      class="filters"
      aria-label="Find a request"
      onSubmit={(event) => {
        event.preventDefault();
        const id = requestId.value.trim();
        if (id !== '') open(`requests/${encodeURIComponent(id)}`);
      }}
    >
      <label class="search">
        Request ID, of any account{' '}
        <input
          type="search"
          value={requestId.value}
          onInput={(event) => {
            requestId.value = event.currentTarget.value;
          }}
        />
      </label>
      <button type="submit">Show request</button>
    </form>
  );
};
