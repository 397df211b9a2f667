import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { CopyButton, Heading, Problem, ScrollFrame, Time } from '../parts/parts.tsx';
import { announce } from '../state/notices.ts';
import { operatorToken } from '../state/session.ts';
import {
  createKey,
  type KeyListing,
  listKeys,
  listRates,
  type ModelRate,
  OperatorError,
  revokeKey,
  setRate,
} from './operator.ts';
import { Rates } from './rates.tsx';

/** Keys of the local run's account and rates of all models, for the operator of a local run. */
export const OperatorPage = () => {
  const keys = useSignal<readonly KeyListing[]>([]);
  const rates = useSignal<readonly ModelRate[]>([]);
  const created = useSignal<string | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const label = useSignal('');

  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
      problem.value = undefined;
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      problem.value = error.message;
    }
  };
  const read = async () => {
    keys.value = await listKeys();
    rates.value = await listRates();
  };
  useEffect(() => {
    attempt(read);
  }, []);

  const create = (event: Event) => {
    event.preventDefault();
    attempt(async () => {
      created.value = (await createKey({ label: label.value })).key;
      label.value = '';
      announce('A key is created.');
      keys.value = await listKeys();
    });
  };
  const revoke = (keyId: string) =>
    attempt(async () => {
      await revokeKey(keyId);
      announce(`The key ${keyId} is revoked.`);
      keys.value = await listKeys();
    });
  const change = (model: string, rate: Pick<ModelRate, 'perImage' | 'perSecond'>) =>
    attempt(async () => {
      const changed = await setRate(model, rate);
      rates.value = rates.peek().map((one) => (one.model === model ? changed : one));
      announce(`The rate of ${model} is set.`);
    });

  return (
    <>
      <Heading>Keys and rates</Heading>
      <Problem text={problem.value} />
      {operatorToken.value === undefined && <p>Open the address that the local run prints at its start.</p>}
      <section aria-labelledby="keys-heading">
        <h2 id="keys-heading">Keys of the local account</h2>
        <form class="filters" onSubmit={create}>
          <label>
            What it is for{' '}
            <input
              type="text"
              value={label.value}
              onInput={(event) => {
                label.value = event.currentTarget.value;
              }}
            />
          </label>
          <button type="submit">Create a key</button>
        </form>
        {created.value !== undefined && (
          <p class="copied">
            <code>{created.value}</code> <CopyButton text={created.value} label="Copy the key" />{' '}
            <span class="quiet">Keep it: it is not shown again.</span>
          </p>
        )}
        <ScrollFrame name="Keys">
          <table>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">What for</th>
                <th scope="col">Created</th>
                <th scope="col">Last used</th>
                <th scope="col">State</th>
              </tr>
            </thead>
            <tbody>
              {keys.value.map(({ keyId, last4, label: what, createdAt, lastUsedAt, revokedAt }) => (
                <tr key={keyId}>
                  <th scope="row">
                    {keyId} …{last4}
                  </th>
                  <td>{what}</td>
                  <td>
                    <Time at={createdAt} />
                  </td>
                  <td>{lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />}</td>
                  <td>
                    {revokedAt === null ? (
                      <button type="button" class="dangerous" onClick={() => revoke(keyId)}>
                        Revoke<span class="unseen"> {keyId}</span>
                      </button>
                    ) : (
                      <>
                        revoked <Time at={revokedAt} />
                      </>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollFrame>
      </section>
      <Rates rates={rates.value} onChange={change} />
    </>
  );
};
