import * as z from 'zod/mini';
import { DEFAULT_LIMITS } from '../../../core/accounts/accounts.ts';
import { toXTokens } from '../../../core/money.ts';
import { type Check, CheckFailedError, ensure, left } from '../check.ts';
import { shown } from '../http.ts';
import { planCreations } from '../plan.ts';

const Catalog = z.object({ data: z.array(z.object({ id: z.string() })) });
const Balance = z.object({ xTokens: z.number() });

/** Calls in quick succession by a key that may make one. */
const FAST_CALLS = 5;
const ONE_CALL = { requestsPerSecond: 0.1, burst: 1 };

const account: Check = {
  name: 'account and key',
  async run({ operator, made }) {
    made.accountId = await operator.createAccount();
    made.key = await operator.createKey(made.accountId, DEFAULT_LIMITS);
    return made.accountId;
  },
};

const catalog: Check = {
  name: 'catalog',
  async run({ caller, operator, made }) {
    const answer = await caller.call('GET', '/v1/models', { key: left(made.key, 'key') });
    const listed = Catalog.safeParse(answer.body);
    if (answer.status !== 200 || !listed.success) {
      throw new CheckFailedError(`GET /v1/models answered ${shown(answer)}.`);
    }
    const ids = listed.data.data.map(({ id }) => id);
    ensure(
      ids.length > 0,
      "No model can be used: put the providers' keys into their secrets, or deploy with -c providers=sandbox.",
    );
    const creations = planCreations(ids, await operator.modelSettings());
    made.creations = creations;
    ensure(creations.image !== undefined, `None of ${ids.join(', ')} makes images.`);
    ensure(creations.video !== undefined, `None of ${ids.join(', ')} makes a video without an image.`);
    return `${ids.length} models; ${creations.image?.body.model} and ${creations.video?.body.model} are used`;
  },
};

const topUp: Check = {
  name: 'top-up',
  async run({ caller, operator, made }) {
    const accountId = left(made.accountId, 'account');
    const { image, video } = left(made.creations, 'catalog');
    const thousandths = (image?.priceThousandths ?? 0) + (video?.priceThousandths ?? 0);
    await operator.topUp(accountId, thousandths);
    const xTokens = toXTokens(thousandths);
    await expectBalance({ caller, made }, xTokens);
    made.xTokens = xTokens;
    return `${xTokens} xTokens`;
  },
};

const expectBalance = async (
  { caller, made }: Pick<Parameters<Check['run']>[0], 'caller' | 'made'>,
  expected: number,
): Promise<void> => {
  const answer = await caller.call('GET', '/v1/balance', { key: left(made.key, 'key') });
  const balance = Balance.safeParse(answer.body);
  if (answer.status !== 200 || !balance.success) {
    throw new CheckFailedError(`GET /v1/balance answered ${shown(answer)}.`);
  }
  const { xTokens } = balance.data;
  ensure(xTokens === expected, `The balance is ${xTokens} xTokens instead of ${expected}.`);
};

const balance: Check = {
  name: 'balance',
  async run({ caller, made }) {
    const before = left(made.xTokens, 'top-up');
    const costs = (made.image?.cost ?? 0) + (made.video?.cost ?? 0);
    const expected = Math.round((before - costs) * 1000) / 1000;
    await expectBalance({ caller, made }, expected);
    return `${before} less ${costs} leaves ${expected} xTokens`;
  },
};

const rateLimit: Check = {
  name: 'rate limit',
  async run({ caller, operator, made }) {
    const key = await operator.createKey(left(made.accountId, 'account'), ONE_CALL);
    const answers = [];
    for (let call = 0; call < FAST_CALLS; call++)
      answers.push(await caller.call('GET', '/v1/balance', { key }));
    const [first, ...others] = answers;
    if (first?.status !== 200)
      throw new CheckFailedError(`The first call of a new key answered ${first && shown(first)}.`);
    const refused = others.find(({ status }) => status === 429);
    if (!refused)
      throw new CheckFailedError(`${FAST_CALLS} calls of a key that may make one were all let through.`);
    const retryAfter = refused.headers.get('retry-after') ?? '';
    ensure(
      /^[1-9]\d*$/.test(retryAfter),
      `A refused call has the Retry-After "${retryAfter}", which is no number of seconds.`,
    );
    return `429 with Retry-After ${retryAfter}`;
  },
};

const ledger: Check = {
  name: 'ledger',
  async run({ operator, made }) {
    const { entries, problems } = await operator.verifyLedger(left(made.accountId, 'account'));
    const [problem] = problems;
    ensure(problem === undefined, `The ledger does not add up: ${problem?.detail}`);
    ensure(entries > 0, 'The ledger has no entries.');
    return `${entries} entries add up`;
  },
};

/** The temporary account, and what is needed to create requests. */
export const PREPARATION_CHECKS: readonly Check[] = [account, catalog, topUp];
/** Money and limits, once the requests have ended. */
export const MONEY_CHECKS: readonly Check[] = [balance, rateLimit];
/** Checks that must still pass once everything is deleted. */
export const LEDGER_CHECKS: readonly Check[] = [ledger];
