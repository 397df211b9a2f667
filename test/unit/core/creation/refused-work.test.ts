import { ApplyGuardrailCommand, type ApplyGuardrailCommandOutput } from '@aws-sdk/client-bedrock-runtime';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Account, getAccount } from '../../../../core/accounts/accounts.ts';
import { FILTER_SLOTS } from '../../../../core/creation/content-filter.ts';
import { createRequest } from '../../../../core/creation/create-request.ts';
import { tooManyInputs } from '../../../../core/creation/input-measuring.ts';
import { accountKey, inFlightKey } from '../../../../core/table/keys.ts';
import { urlsOf } from '../../builders/bodies.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { stopTime } from '../../builders/stop-time.ts';
import { anImageSubmission, aVideoSubmission, theFacts } from '../../builders/submissions.ts';
import { memory } from './a-creation.ts';
import { bedrock, createVideo, discard, measuring } from './a-video-creation.ts';

/** The instant at which each test begins: half an hour before an hour ends. */
const BEGIN = 30 * 60;
let at = atSeconds(BEGIN);
/** Goes to an instant, in seconds after `NOW`. */
const goTo = (seconds: number) => {
  at = atSeconds(seconds);
  stopTime(at);
};
/** The allowance of an hour. */
const MOST = 6;
const ALLOWED = { REFUSED_WORK_PER_HOUR: String(MOST) };
const FILTERED = { GUARDRAIL_ID: 'guardrail', GUARDRAIL_VERSION: '1', ...ALLOWED };
const UNFILTERED = { GUARDRAIL_ID: '', ...ALLOWED };
const answering = (action: string) =>
  bedrock
    .on(ApplyGuardrailCommand)
    .callsFake(async () => ({ action, assessments: [] }) as unknown as ApplyGuardrailCommandOutput);
const passing = () => answering('NONE');
const blocking = () => answering('GUARDRAIL_INTERVENED');

const account = () => getAccount(ACCOUNT_ID);
const createImage = async (from?: Account, variables = FILTERED) =>
  withEnvironment(variables, async () =>
    createRequest(from ?? (await account()), anImageSubmission({}, { now: at }), theFacts()),
  );
const createFromClips = async (measure: ReturnType<typeof measuring>, variables = UNFILTERED) =>
  withEnvironment(variables, async () =>
    createVideo(
      await account(),
      aVideoSubmission({ referenceVideos: urlsOf('mp4', 2), resolution: '480p' }, { now: at }),
      theFacts(),
      measure,
    ),
  );
const codes = async (count: number, create: () => Promise<unknown>): Promise<string[]> => {
  const found: string[] = [];
  for (let creation = 0; creation < count; creation++) {
    found.push(
      await create().then(
        () => 'accepted',
        (error) => error.code,
      ),
    );
  }
  return found;
};
const times = (count: number, code: string) => Array.from({ length: count }, () => code);

beforeEach(() => {
  bedrock.reset();
  memory.put(accountKey(ACCOUNT_ID), anAccount({ balanceThousandths: 10_000_000 }));
  goTo(BEGIN);
});

describe('clips measured for creations', () => {
  test('use nothing of the allowance when there is no slot for them', async () => {
    const slot = inFlightKey('clips', 'ALL#0');
    const held = { holder: 'another', heldUntil: at.getTime() + 20_000 };
    const isAnyFull = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`slot${index}`, held]));
    for (let index = 0; index < 20; index++)
      memory.put({ ...slot, PK: `IN_FLIGHT#clips#ALL#${index}` }, isAnyFull);

    expect(await codes(1, () => createFromClips(measuring(1, 1)))).toEqual(['rate_limited']);
    expect(memory.get(inFlightKey('clips', `ACCOUNT#${ACCOUNT_ID}`))).toMatchObject({ spent: 0 });
  });
});

describe('prompts judged for creations that are refused', () => {
  test('are as many in an hour as set; from then on creations are 429 until it ends, and nothing is judged', async () => {
    blocking();

    expect(await codes(MOST + 1, () => createImage())).toEqual([
      ...times(MOST, 'content_policy'),
      'rate_limited',
    ]);
    await expect(createImage()).rejects.toMatchObject({ retryAfterSeconds: 30 * 60 });
    expect(bedrock.calls()).toHaveLength(MOST);

    goTo(BEGIN + 30 * 60 - 0.001);
    await expect(createImage()).rejects.toMatchObject({ retryAfterSeconds: 1 });
    goTo(BEGIN + 30 * 60);
    expect(await codes(MOST + 1, () => createImage())).toEqual([
      ...times(MOST, 'content_policy'),
      'rate_limited',
    ]);
  });

  test('are one more for each creation accepted in the hour', async () => {
    passing();
    expect(await codes(10, () => createImage())).toEqual(times(10, 'accepted'));
    blocking();

    expect(await codes(MOST + 11, () => createImage())).toEqual([
      ...times(MOST + 10, 'content_policy'),
      'rate_limited',
    ]);
    goTo(BEGIN + 30 * 60);
    expect(await codes(MOST + 1, () => createImage())).toEqual([
      ...times(MOST, 'content_policy'),
      'rate_limited',
    ]);
  });

  test('are never more, however many creations arrive at once', async () => {
    let most = 0;
    let underWay = 0;
    bedrock.on(ApplyGuardrailCommand).callsFake(async () => {
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
      return { action: 'GUARDRAIL_INTERVENED' };
    });
    const allowed = FILTER_SLOTS + 10;
    const variables = { ...FILTERED, REFUSED_WORK_PER_HOUR: String(allowed) };
    for (let round = 0; round < 4; round++) {
      await Promise.allSettled(
        Array.from({ length: FILTER_SLOTS + 10 }, () => createImage(undefined, variables)),
      );
    }

    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(FILTER_SLOTS);
    expect(bedrock.calls()).toHaveLength(allowed);
  });

  test('of one account leave the others theirs', async () => {
    blocking();
    await codes(MOST + 1, () => createImage());
    const other = anAccount({ accountId: 'acc_other' });
    memory.put(accountKey('acc_other'), other);

    await expect(createImage(other)).rejects.toMatchObject({ code: 'content_policy' });
  });

  test('are not counted when the filter itself fails', async () => {
    bedrock.on(ApplyGuardrailCommand).rejects(new Error('no guardrail'));
    await codes(10, () => createImage());
    blocking();

    await expect(createImage()).rejects.toMatchObject({ code: 'content_policy' });
  });

  test('leave accepted creations alone: 100 in an hour are accepted, each with two updates for the filter', async () => {
    passing();
    await createImage();
    memory.client.resetHistory();

    expect(await codes(99, () => createImage())).toEqual(times(99, 'accepted'));
    expect(memory.calls().UpdateCommand).toBe(2 * 99);
  });
});

describe('clips fetched for creations that are refused', () => {
  const unusable = () => measuring('is no video', 'is no video');

  test('are those of as many creations in an hour as set; then nothing is fetched until it ends', async () => {
    const measure = unusable();

    expect(await codes(MOST + 1, () => createFromClips(measure))).toEqual([
      ...times(MOST, 'validation_error'),
      'rate_limited',
    ]);
    expect(measure).toHaveBeenCalledTimes(MOST);
    expect(discard).not.toHaveBeenCalled();
    goTo(BEGIN + 30 * 60);
    await expect(createFromClips(measure)).rejects.toMatchObject({ code: 'validation_error' });
  });

  test('are those of one more for each creation accepted in the hour, of any kind', async () => {
    expect(await codes(2, () => createFromClips(measuring(1, 1)))).toEqual(times(2, 'accepted'));
    passing();
    expect(await codes(3, () => createImage())).toEqual(times(3, 'accepted'));

    expect(await codes(MOST + 6, () => createFromClips(unusable()))).toEqual([
      ...times(MOST + 5, 'validation_error'),
      'rate_limited',
    ]);
  });

  test('count when the creation is refused later, for what they cost', async () => {
    memory.put(accountKey(ACCOUNT_ID), anAccount({ balanceThousandths: 15_000 }));

    expect(await codes(MOST + 1, () => createFromClips(measuring(10, 10)))).toEqual([
      ...times(MOST, 'payment_required'),
      'rate_limited',
    ]);
  });

  test('count when measuring breaks, which a clip may have caused', async () => {
    const broken = jest.fn(() => Promise.reject(new Error('No answer.'))) as never;
    await codes(MOST, () => createFromClips(broken));

    await expect(createFromClips(broken)).rejects.toMatchObject({ code: 'rate_limited' });
  });

  test('do not count when nothing was fetched, because too many others are measured', async () => {
    const throttled = jest.fn(() => Promise.reject(tooManyInputs())) as never;
    await codes(2 * MOST, () => createFromClips(throttled));

    await expect(createFromClips(unusable())).rejects.toMatchObject({ code: 'validation_error' });
  });

  test('have no part in the prompts’ allowance beyond the one judged before', async () => {
    passing();
    expect(await codes(MOST + 1, () => createFromClips(unusable(), FILTERED))).toEqual([
      ...times(MOST, 'validation_error'),
      'rate_limited',
    ]);
    expect(bedrock.calls()).toHaveLength(MOST);
  });
});
