import { useEffect } from 'preact/hooks';
import { costText } from '../make/price-rules.ts';
import { accountName, balance, readBalance, requestCost } from '../state/account.ts';
import { useLive } from '../state/live.ts';
import { hrefOf } from '../state/route.ts';
import { xTokensText } from './texts.ts';

/** The account in use and its balance, with what the form's request will cost. Live. */
export const AccountBar = () => {
  useEffect(() => {
    readBalance();
  }, []);
  useLive(readBalance);
  return (
    <>
      {accountName.value !== undefined && (
        <span class="name" title={accountName.value}>
          <span class="unseen">Account </span>
          {accountName.value}
        </span>
      )}
      {balance.value && (
        <span class="balance">
          <a href={hrefOf('balance')}>{xTokensText(balance.value.xTokens)} xTokens</a>
          {requestCost.value && <span class="quiet"> · this request: {costText(requestCost.value)}</span>}
        </span>
      )}
    </>
  );
};
