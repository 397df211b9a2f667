import { useSignal } from '@preact/signals';
import { Problem } from '../parts/parts.tsx';
import { xTokensText } from '../parts/texts.ts';
import { readBalance } from '../state/account.ts';
import { show } from '../state/notices.ts';
import { accountIdOf, apiKey } from '../state/session.ts';
import { type AccountListing, topUp } from './operator.ts';
import { useAction } from './use-operator.ts';

interface BalanceProps {
  account: AccountListing;
  /** Called once the balance has changed. */
  onChange: () => void;
}

/** The balance of an account, with a top-up. */
export const AccountBalance = ({ account: { accountId, name, xTokens }, onChange }: BalanceProps) => {
  const amount = useSignal('');
  const note = useSignal('');
  // The same until it has worked: a top-up whose answer was lost is not made twice.
  const idempotencyKey = useSignal(crypto.randomUUID());
  const { run, isBusy, problem } = useAction();
  const add = (event: Event) => {
    event.preventDefault();
    run(async () => {
      const body = { amount: amount.value.trim(), note: note.value, idempotencyKey: idempotencyKey.value };
      const { balanceAfter } = await topUp(accountId, body);
      idempotencyKey.value = crypto.randomUUID();
      [amount.value, note.value] = ['', ''];
      show(`The balance of ${name} is ${xTokensText(balanceAfter)} xTokens.`);
      onChange();
      if (accountIdOf(apiKey.peek() ?? '') === accountId) await readBalance();
    });
  };
  return (
    <section class="panel" aria-labelledby="balance-heading">
      <h2 id="balance-heading">Balance of {name}</h2>
      <p class="large">{xTokensText(xTokens)} xTokens</p>
      <form class="filters" onSubmit={add} noValidate>
        <label>
          xTokens to add
          <input
            type="text"
            inputMode="decimal"
            size={10}
            value={amount.value}
            onInput={(event) => {
              amount.value = event.currentTarget.value;
            }}
          />
        </label>
        <label class="search">
          Note, which the customer reads
          <input
            type="text"
            value={note.value}
            onInput={(event) => {
              note.value = event.currentTarget.value;
            }}
          />
        </label>
        <button type="submit" aria-disabled={amount.value.trim() === ''} aria-busy={isBusy.value}>
          Top up
        </button>
      </form>
      <Problem text={problem.value} />
    </section>
  );
};
