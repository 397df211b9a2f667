import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Heading, Problem } from '../parts/parts.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { readRates } from '../state/account.ts';
import { show } from '../state/notices.ts';
import { open, replaceQuery, route } from '../state/route.ts';
import { accountIdOf, apiKey, operatorToken } from '../state/session.ts';
import { Keys } from './keys.tsx';
import {
  type AccountListing,
  listAccounts,
  listRates,
  listRoutes,
  type ModelRate,
  OperatorError,
  type RouteListing,
  readVersion,
  setRate,
} from './operator.ts';
import { type NewRate, Rates } from './rates.tsx';

/** Any request, keys of every account, rates and routes, for operators. */
export const OperatorPage = () => {
  const accounts = useSignal<readonly AccountListing[]>([]);
  const rates = useSignal<readonly ModelRate[]>([]);
  const routes = useSignal<readonly RouteListing[]>([]);
  const service = useSignal<string | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);

  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
      problem.value = undefined;
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      problem.value = error.message;
    }
  };
  useEffect(() => {
    attempt(async () => {
      const [version, ...lists] = await Promise.all([
        readVersion(),
        listAccounts(),
        listRates(),
        listRoutes(),
      ]);
      service.value = [version.service, version.version].filter(Boolean).join(', version ');
      [accounts.value, rates.value, routes.value] = lists;
    });
  }, []);
  const change = (model: string, rate: NewRate) =>
    attempt(async () => {
      const changed = await setRate(model, rate);
      rates.value = rates.peek().map((one) => (one.model === model ? changed : one));
      await readRates();
      show(`The rate of ${model} is saved.`);
    });

  // The account of the key in use, unless another one is chosen.
  const chosen = route.value.query.get('account') ?? accountIdOf(apiKey.value ?? '');
  const account = accounts.value.find(({ accountId }) => accountId === chosen) ?? accounts.value[0];
  return (
    <>
      <Heading>Operator</Heading>
      {service.value !== undefined && <p class="quiet">Service: {service.value}</p>}
      <Problem text={problem.value} />
      {operatorToken.value === undefined && <p>Open the address that the terminal shows.</p>}
      <FindRequest />
      {account && (
        <>
          <p>
            <label>
              Account{' '}
              <select
                value={account.accountId}
                onInput={(event) => replaceQuery('operator', { account: event.currentTarget.value })}
              >
                {accounts.value.map(({ accountId, name }) => (
                  <option key={accountId} value={accountId}>
                    {name} ({accountId})
                  </option>
                ))}
              </select>
            </label>
          </p>
          <Keys key={account.accountId} account={account} attempt={attempt} />
        </>
      )}
      <Rates rates={rates.value} onChange={change} />
      <section aria-labelledby="routes-heading">
        <h2 id="routes-heading">Routes</h2>
        <Table name="Routes" columns={ROUTE_COLUMNS} rows={routes.value} keyOf={routeKey} />
      </section>
    </>
  );
};

const routeKey = ({ model, provider, upstreamModel }: RouteListing): string =>
  `${model} ${provider} ${upstreamModel}`;
const numberText = (value: number | null): string => (value === null ? '–' : value.toLocaleString('en'));

const ROUTE_COLUMNS: readonly Column<RouteListing>[] = [
  { head: 'Model', isName: true, cell: ({ model }) => model },
  { head: 'Provider', cell: ({ provider }) => provider },
  { head: 'Upstream model', isLong: true, cell: ({ upstreamModel }) => upstreamModel },
  { head: 'State', cell: ({ state }) => state },
  { head: 'Running', isNumber: true, cell: ({ running }) => numberText(running) },
  { head: 'At most', isNumber: true, cell: ({ maxRunning }) => numberText(maxRunning) },
  { head: 'Waiting', isNumber: true, cell: ({ waiting }) => numberText(waiting) },
  {
    head: 'Oldest (s)',
    isNumber: true,
    cell: ({ oldestWaitingSeconds }) => numberText(oldestWaitingSeconds),
  },
];

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
