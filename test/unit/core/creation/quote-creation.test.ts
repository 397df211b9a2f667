import { ApplyGuardrailCommand } from '@aws-sdk/client-bedrock-runtime';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Account } from '../../../../core/accounts/accounts.ts';
import { createRequest } from '../../../../core/creation/create-request.ts';
import { tooManyInputs } from '../../../../core/creation/input-measuring.ts';
import type { CreationFacts } from '../../../../core/creation/judge-creation.ts';
import { quoteCreation } from '../../../../core/creation/quote-creation.ts';
import type { Submission } from '../../../../core/creation/submission.ts';
import { accountKey, spentKey } from '../../../../core/table/keys.ts';
import { urlsOf } from '../../builders/bodies.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount, anEndUser, KEY_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { anImageSubmission, aVideoSubmission, theFacts } from '../../builders/submissions.ts';
import { memory, nothingWritten } from './a-creation.ts';
import { bedrock, createVideo, discard, measuring } from './a-video-creation.ts';

const CLIPS = { referenceVideos: urlsOf('mp4', 2), resolution: '480p' };
const quote = (submission: Submission, { account = {}, facts = {}, measure = measuring() }: Situation = {}) =>
  quoteCreation(anAccount(account), submission, theFacts(facts), { measure, discard });
interface Situation {
  account?: Partial<Account>;
  facts?: Partial<CreationFacts>;
  measure?: Parameters<typeof createVideo>[3];
}
beforeEach(() => {
  bedrock.reset();
});

describe('a quote', () => {
  test.each<[string, () => Submission, (number | string)[]]>([
    ['images', () => anImageSubmission({ n: 3 }), []],
    ['images of a size', () => anImageSubmission({ n: 2, size: '2K' }), []],
    ['a video', () => aVideoSubmission({ durationSec: 7 }), []],
    ['a video with clips', () => aVideoSubmission({ ...CLIPS, durationSec: 4 }), [2.2, 3]],
  ])('of %s is what their creation is debited, and writes nothing', async (_, submission, seconds) => {
    const { xTokens, balance, covered } = await quote(submission(), { measure: measuring(...seconds) });
    nothingWritten();
    memory.put(accountKey(ACCOUNT_ID), anAccount());

    const { request } = await createVideo(
      ...([anAccount(), submission(), theFacts(), measuring(...seconds)] as const),
    );

    expect([xTokens, balance, covered]).toEqual([request.debitThousandths / 1_000, 100, true]);
  });

  test('removes the copies of the clips that it measured', async () => {
    const measure = measuring(3, 3);
    await quote(aVideoSubmission(CLIPS), { measure });

    expect(discard.mock.calls.map(([{ requestId }]) => requestId)).toEqual([
      measure.mock.calls[0]?.[0].requestId,
    ]);
  });

  test('says that the balance does not suffice, and of clips with their seconds', async () => {
    const short = { account: { balanceThousandths: 5_999 } };
    expect(await quote(anImageSubmission({}), short)).toMatchObject({ xTokens: 6, covered: false });

    // 5 s of output alone are 15 xTokens, with the clips 33.
    const account = { balanceThousandths: 20_000 };
    const withClips = await quote(aVideoSubmission(CLIPS), { account, measure: measuring(3, 3) });
    expect(withClips).toMatchObject({ xTokens: 33, balance: 20, covered: false });
  });

  test('fetches nothing for a balance that does not cover the output alone', async () => {
    const measure = measuring(3, 3);
    const poor = { account: { balanceThousandths: 14_999 }, measure };

    await expect(quote(aVideoSubmission(CLIPS), poor)).rejects.toMatchObject({ code: 'payment_required' });
    expect(measure).not.toHaveBeenCalled();
    const enough = { account: { balanceThousandths: 15_000 }, measure };
    expect(await quote(aVideoSubmission(CLIPS), enough)).toMatchObject({ xTokens: 33, covered: false });
  });

  test('judges the prompt for a balance that covers its price, and for no lower one', async () => {
    bedrock.on(ApplyGuardrailCommand).resolves({ action: 'NONE', assessments: [] } as never);
    const ask = (balanceThousandths: number) =>
      withEnvironment({ GUARDRAIL_ID: 'guardrail', GUARDRAIL_VERSION: '1' }, () =>
        quote(anImageSubmission({}), { account: { balanceThousandths } }),
      );

    expect(await ask(5_999)).toMatchObject({ covered: false });
    expect(bedrock.calls()).toHaveLength(0);
    expect(await ask(6_000)).toMatchObject({ xTokens: 6, balance: 6, covered: true });
    expect(bedrock.calls()).toHaveLength(1);
  });

  test('has the limits of both budgets, and is covered up to what is left of each', async () => {
    const endUser = anEndUser({ budget: { perDayThousandths: 10_000 } });
    const account = { keyBudgets: { [KEY_ID]: { perDayThousandths: 90_000, perMonthThousandths: 20_000 } } };
    const spend = (day: number, month: number) => {
      memory.put(spentKey(ACCOUNT_ID, endUser.endUserId, NOW.toISOString().slice(0, 10)), {
        spentThousandths: day,
      });
      memory.put(spentKey(ACCOUNT_ID, KEY_ID, NOW.toISOString().slice(0, 7)), { spentThousandths: month });
    };
    const ask = () => quote(anImageSubmission({}), { account, facts: { endUser } });
    const tomorrow = new Date(Date.parse(NOW.toISOString().slice(0, 10)) + 86_400_000).toISOString();
    spend(4_000, 14_000);

    expect(await ask()).toEqual({
      ...{ xTokens: 6, balance: 100, covered: true },
      budgets: [
        { of: 'endUser', per: 'day', limit: 10, spent: 4, renewsAt: tomorrow },
        { of: 'apiKey', per: 'day', limit: 90, spent: 0, renewsAt: tomorrow },
        { of: 'apiKey', per: 'month', limit: 20, spent: 14, renewsAt: '2026-12-01T00:00:00.000Z' },
      ],
    });
    spend(4_001, 14_000);
    expect((await ask()).covered).toBe(false);
    // 6 and 0.347 are a little less than 6.347 together, as binary fractions.
    const exact = (limit: number) =>
      quote(anImageSubmission({}), {
        facts: { endUser: { ...endUser, budget: { perDayThousandths: limit } } },
      });
    spend(347, 0);
    expect([(await exact(6_346)).covered, (await exact(6_347)).covered]).toEqual([false, true]);
    spend(4_000, 14_001);
    expect((await ask()).covered).toBe(false);
  });

  test.each<[string, Partial<CreationFacts>, string]>([
    ['a blocked end-user', { endUser: anEndUser({ blockedAt: NOW.toISOString() }) }, 'forbidden'],
    ['an end-user being removed', { endUser: anEndUser({ deletingAt: NOW.toISOString() }) }, 'conflict'],
    ['a pause', { pausedSeconds: 9 }, 'temporarily_unavailable'],
    ['no provider', { credentials: new Set() }, 'validation_error'],
    ['a retired model', { retired: 'was retired' }, 'validation_error'],
  ])('is refused for %s as a creation is, before anything is measured', async (_, facts, code) => {
    const measure = measuring(3, 3);

    await expect(quote(aVideoSubmission(CLIPS), { facts, measure })).rejects.toMatchObject({ code });
    expect(measure).not.toHaveBeenCalled();
    nothingWritten();
  });

  test('is refused for its prompt, and for a clip that is too long', async () => {
    bedrock.on(ApplyGuardrailCommand).resolves({ action: 'GUARDRAIL_INTERVENED', assessments: [] } as never);
    await withEnvironment({ GUARDRAIL_ID: 'guardrail', GUARDRAIL_VERSION: '1' }, async () => {
      await expect(quote(anImageSubmission({}))).rejects.toMatchObject({ code: 'content_policy' });
    });
    await expect(quote(aVideoSubmission(CLIPS), { measure: measuring(3, 15.1) })).rejects.toMatchObject({
      fields: { 'referenceVideos[1]': expect.any(String) },
    });
  });

  test('reports no exhausted balance: nothing was asked for', async () => {
    const balanceWebhook = { url: 'https://hooks.example.com/', belowThousandths: 5_000 };
    await quote(anImageSubmission({}), { account: { balanceThousandths: 0, balanceWebhook } });

    expect(memory.transactions).toEqual([]);
  });
});

describe('quotes and creations', () => {
  const measure = () => measuring(3, 3);
  const limited = { REFUSED_WORK_PER_HOUR: '3' };

  test('share the allowance of measuring: a quote uses it, a throttled one gives it back', async () => {
    await withEnvironment(limited, async () => {
      const throttled = () => Promise.reject(tooManyInputs());
      for (let time = 0; time < 5; time++)
        await expect(quote(aVideoSubmission(CLIPS), { measure: throttled })).rejects.toBeDefined();
      for (let time = 0; time < 3; time++) await quote(aVideoSubmission(CLIPS), { measure: measure() });

      const refused = { code: 'rate_limited', message: 'Too many creations were refused in this hour.' };
      await expect(quote(aVideoSubmission(CLIPS), { measure: measure() })).rejects.toMatchObject(refused);
      const created = createVideo(anAccount(), aVideoSubmission(CLIPS), theFacts(), measure());
      await expect(created).rejects.toMatchObject(refused);
    });
  });

  test('of another account are not held up', async () => {
    await withEnvironment(limited, async () => {
      for (let time = 0; time < 3; time++) await quote(aVideoSubmission(CLIPS), { measure: measure() });
      const other = { accountId: 'acc_01JD4KXQ8M0000000000000009' };

      expect(await quote(aVideoSubmission(CLIPS), { account: other, measure: measure() })).toMatchObject({
        covered: true,
      });
    });
  });

  test('of images need no allowance', async () => {
    await withEnvironment(limited, async () => {
      for (let time = 0; time < 5; time++) await quote(anImageSubmission({}));
      expect((await createRequest(anAccount(), anImageSubmission({}), theFacts())).replayed).toBe(false);
    });
  });
});
