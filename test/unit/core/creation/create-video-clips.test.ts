import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import {
  type InputMeasure,
  type InputsToMeasure,
  tooManyInputs,
} from '../../../../core/creation/input-measuring.ts';
import { MEASURING_SLOTS } from '../../../../core/creation/measured-creation.ts';
import { accountKey } from '../../../../core/table/keys.ts';
import { urlsOf } from '../../builders/bodies.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { aVideoSubmission, theFacts } from '../../builders/submissions.ts';
import { memory, nothingWritten } from './a-creation.ts';
import { aClip, create, createVideo, discard, measuring } from './a-video-creation.ts';

describe('copies of reference videos', () => {
  const body = { referenceVideos: urlsOf('mp4', 2), resolution: '480p' };
  const discarded = () => discard.mock.calls.map(([{ requestId, files }]) => [requestId, files.length]);

  test.each<[string, Parameters<typeof measuring>, Parameters<typeof create>[2]]>([
    ['one of them is no video', [3, 'is no video'], {}],
    ['they are too long together', [15, 15], {}],
    ['the balance does not cover their seconds', [3, 3], { account: { balanceThousandths: 15_000 } }],
  ])('are removed when %s', async (_, measures, situation) => {
    const measure = measuring(...measures);

    await expect(create(body, measure, situation)).rejects.toBeDefined();

    expect(discarded()).toEqual([[measure.mock.calls[0]?.[0].requestId, 2]]);
    nothingWritten();
  });

  test('are not looked for when none was made', async () => {
    await expect(create(body, measuring('is no video', 15.1))).rejects.toBeDefined();

    expect(discard).not.toHaveBeenCalled();
  });

  test('are removed when measuring failed, which may have left some', async () => {
    await expect(create(body, (() => Promise.reject(new Error('No answer.'))) as never)).rejects.toThrow();

    expect(discarded()).toEqual([[expect.stringMatching(/^vid_/), 2]]);
  });

  test('are not looked for when measuring never began', async () => {
    await expect(create(body, (() => Promise.reject(tooManyInputs())) as never)).rejects.toBeDefined();

    expect(discard).not.toHaveBeenCalled();
  });

  test('are removed when one was measured but not copied, and nothing is written', async () => {
    const measure = jest.fn(async (): Promise<InputMeasure[]> => [aClip(1), aClip(1, 'mp4')]);

    await expect(create(body, measure)).rejects.toThrow('not copied');

    expect(discarded()).toHaveLength(1);
    nothingWritten();
  });

  test('are removed when the same key created the request meanwhile', async () => {
    const submission = aVideoSubmission(body, { idempotencyKey: 'key-1' });
    const twin = async (measure: (inputs: InputsToMeasure) => Promise<InputMeasure[]>) =>
      createVideo(anAccount(), submission, theFacts(), measure);
    let first: string | undefined;
    const measure = jest.fn(async (inputs: InputsToMeasure): Promise<InputMeasure[]> => {
      first = (await twin(measuring(1, 1))).request.requestId;
      return inputs.files.map(() => aClip(1_000, 'mov'));
    });

    const { request, replayed } = await twin(measure);

    expect([request.requestId, replayed]).toEqual([first, true]);
    const own = measure.mock.calls[0]?.[0].requestId;
    expect(own).not.toBe(first);
    expect(discarded()).toEqual([[own, 2]]);
  });

  test('stay when it is not known whether the request was written', async () => {
    memory.client.on(TransactWriteCommand).rejects(Object.assign(new Error(), { name: 'TimeoutError' }));

    await expect(create(body, measuring(3, 3))).rejects.toBeDefined();

    expect(discard).not.toHaveBeenCalled();
  });
});

describe('clips that are being measured', () => {
  /** Measures that end when told to. */
  const holding = () => {
    const ends: (() => void)[] = [];
    const measure = jest.fn(
      ({ files }: InputsToMeasure) =>
        new Promise<InputMeasure[]>((resolve) =>
          ends.push(() => resolve(files.map(() => aClip(1_000, 'mp4')))),
        ),
    );
    return { measure, ends };
  };
  const clipsOn = (host: string) => ({ referenceVideos: [`https://${host}/a.mp4`, `https://${host}/b.mp4`] });
  const attempt = (accountId: string, host: string, measure: ReturnType<typeof holding>['measure']) => {
    const account = anAccount({ accountId, balanceThousandths: 10_000_000 });
    memory.put(accountKey(accountId), account);
    const submission = aVideoSubmission(clipsOn(host));
    return createVideo(account, submission, theFacts(), measure).catch((error) => error);
  };
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await new Promise(setImmediate);
  };

  test('are few of an account: a further creation is 429, and nothing of it is fetched or written', async () => {
    const { measure, ends } = holding();
    const first = Array.from({ length: MEASURING_SLOTS }, (_, index) =>
      attempt(ACCOUNT_ID, `host-${index}.example.com`, measure),
    );
    await until(() => ends.length === MEASURING_SLOTS);

    const refused = await attempt(ACCOUNT_ID, 'another.example.com', measure);

    expect(refused).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 2 });
    expect(measure).toHaveBeenCalledTimes(MEASURING_SLOTS);
    expect(memory.transactions).toEqual([]);
    for (const end of ends) end();
    await Promise.all(first);
    const next = attempt(ACCOUNT_ID, 'another.example.com', measure);
    await until(() => ends.length === MEASURING_SLOTS + 1);
    ends.at(-1)?.();
    await next;
  });

  test('leave other accounts their slots, on the same host too', async () => {
    const { measure, ends } = holding();
    const accounts = ['acc_1', 'acc_2', 'acc_3'];
    const all = accounts.flatMap((accountId) =>
      Array.from({ length: MEASURING_SLOTS }, () => attempt(accountId, 'shared.example.com', measure)),
    );
    await until(() => ends.length === all.length);

    for (const end of ends) end();
    expect(await Promise.all(all)).toEqual(all.map(() => expect.objectContaining({ replayed: false })));
  });
});
