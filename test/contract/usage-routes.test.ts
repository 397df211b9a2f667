import { expect, test } from '@jest/globals';
import { accepted, newCaller, settled, sharedService, unique } from './support/client.ts';
import { history } from './support/ledger.ts';
import { ops } from './support/local-service.ts';

interface Sums {
  requests: number;
  debited: number;
  refunded: number;
  xTokens: number;
}
type Item = Record<'day' | 'model' | 'endUserEmail' | 'keyId', string> & Sums;

test('GET /v1/usage tells what the ledger has, and ops usage show the same', async () => {
  const caller = await newCaller(await sharedService(), 20);
  for (const prompt of [unique(), unique('[fail=provider_error]')]) {
    const { requestId } = await accepted(caller, { prompt });
    await settled(caller, requestId);
  }
  const entries = (await history(caller)).filter(({ reason }) => reason !== 'topup');
  const sumOf = (reason: string): number =>
    entries.filter((entry) => entry.reason === reason).reduce((sum, { amount }) => sum + amount, 0);
  const sums = {
    requests: 2,
    ...{ debited: sumOf('generation'), refunded: sumOf('refund') },
    xTokens: sumOf('generation') - sumOf('refund'),
  };

  const day = entries.at(-1)?.createdAt.slice(0, 10) ?? '';
  const to = new Date(Date.parse(day) + 2 * 86_400_000).toISOString().slice(0, 10);
  const { body } = await caller.get<{ items: Item[]; total: Sums }>(
    `/v1/usage?from=${day}&to=${to}&by=model,endUser,key`,
  );
  const keys = await ops<{ keyId: string }[]>(caller.service, 'keys', 'list', caller.accountId);
  expect(body).toMatchObject({ from: day, to, by: ['model', 'endUser', 'key'], total: sums });
  expect(body.items).toEqual([
    {
      model: expect.stringMatching(/^x/),
      endUserEmail: expect.stringContaining('@'),
      keyId: keys[0]?.keyId,
      ...sums,
    },
  ]);

  const month = day.slice(0, 7);
  const told = await ops<{ total: Sums }>(
    caller.service,
    ...['usage', 'show', caller.accountId, '--month', month, '--by', 'day,model'],
  );
  expect(told.total).toEqual(sums);
});
