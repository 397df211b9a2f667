import { toXTokens } from '../money.ts';
import type { Usage, UsageQuery } from './usage.ts';
import type { UsageAnswer, UsageItem } from './usage-answers.ts';
import type { UsageGroup, UsageSums } from './usage-rules.ts';

/** Sums in xTokens; `xTokens` is what was debited and not refunded. */
export const renderSums = ({ requests, debitedThousandths, refundedThousandths }: UsageSums) => ({
  requests,
  debited: toXTokens(debitedThousandths),
  refunded: toXTokens(refundedThousandths),
  xTokens: toXTokens(debitedThousandths - refundedThousandths),
});

/** A group as the API shows it, with the dimensions that were asked for. */
export const renderUsageGroup = ({ day, model, endUser, key, ...sums }: UsageGroup): UsageItem => ({
  ...(day !== undefined && day !== null && { day }),
  ...(model !== undefined && { model }),
  ...(endUser !== undefined && { endUserEmail: endUser }),
  ...(key !== undefined && { keyId: key }),
  ...renderSums(sums),
});

/** Usage as the API shows it. Without a dimension it has no items. */
export const renderUsage = ({ groups, total }: Usage, { from, to, by }: UsageQuery): UsageAnswer => ({
  from: from.slice(0, 10),
  to: to.slice(0, 10),
  by: [...by],
  items: by.length === 0 ? [] : groups.map(renderUsageGroup),
  total: renderSums(total),
});
