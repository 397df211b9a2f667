import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createRequest } from '../../../../core/creation/create-request.ts';
import type { InputMeasure, InputsToMeasure } from '../../../../core/creation/input-measuring.ts';
import { loadCreationFacts } from '../../../../core/creation/judge-creation.ts';
import { newUploadId } from '../../../../core/ids.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { ownerOf } from '../../../../core/uploads/own-inputs.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount, anImageRequest, aStoredOutput } from '../../builders/entities.ts';
import { aSigningKey } from '../../builders/signing-key.ts';
import { anImageSubmission, aVideoSubmission } from '../../builders/submissions.ts';
import { secrets } from '../../fakes/fresh-secrets.ts';
import { memory, nothingWritten } from './a-creation.ts';
import { aClip, discard } from './a-video-creation.ts';

const FILES = 'https://files.example.com';
const OTHERS = 'https://images.example.com/1.png';
const KEY_ARN = 'arn:delivery-key';
const upload = (extension = 'png', accountId = ACCOUNT_ID) =>
  `uploads/${ownerOf(accountId)}/${newUploadId(NOW)}.${extension}`;
const png: InputMeasure = { contentType: 'image/png', sizeBytes: 1_000, width: 640, height: 480 };
const measuring = (...measures: InputMeasure[]) => jest.fn(async (_: InputsToMeasure) => measures);
type Submission = ReturnType<typeof anImageSubmission> | ReturnType<typeof aVideoSubmission>;
const create = async (
  submission: Submission,
  measure: (inputs: InputsToMeasure) => Promise<InputMeasure[]>,
  carried?: ReadonlyMap<string, Uint8Array>,
) => {
  const facts = await loadCreationFacts(ACCOUNT_ID, submission);
  const ways = { measuring: { measure, discard }, ...(carried && { carried }) };
  return (await createRequest(anAccount(), submission, facts, ways)).request;
};

beforeEach(() => {
  secrets.set(KEY_ARN, aSigningKey().privateKeyPem);
});

describe('a creation from files of the account', () => {
  test('measures these alone, by URLs signed for a minute, and keeps their handles until the first is removed', async () => {
    const [own, measure] = [upload(), measuring(png)];
    const request = await create(
      anImageSubmission({ references: [OTHERS, `${FILES}/${own}?Expires=1&Signature=x`] }),
      measure,
    );

    expect(measure.mock.calls).toEqual([
      [
        {
          requestId: request.requestId,
          files: [{ medium: 'image', url: expect.stringContaining(`${FILES}/${own}?`) }],
          longestSeconds: Number.MAX_SAFE_INTEGER,
        },
      ],
    ]);
    const [file] = measure.mock.calls[0]?.[0].files ?? [];
    const url = file && 'url' in file ? file.url : '';
    expect(new URL(url).searchParams.get('Expires')).toBe(String(NOW.getTime() / 1_000 + 60));
    expect(request).toMatchObject({
      references: [OTHERS, own],
      inputsExpireAt: atSeconds(2 * 86_400).toISOString(),
    });
    expect(discard).not.toHaveBeenCalled();
  });

  test('can be from an output of a request of its own', async () => {
    const made = { ...anImageRequest(), status: 'succeeded', expiresAt: atSeconds(9).toISOString() };
    memory.put(requestKey(made.requestId), { ...made, outputs: [aStoredOutput(0)] });
    const { objectKey } = aStoredOutput(0);
    const submission = () => anImageSubmission({ references: [`${FILES}/${objectKey}`] });

    expect(await create(submission(), measuring(png))).toMatchObject({
      references: [objectKey],
      inputsExpireAt: atSeconds(9).toISOString(),
    });
    memory.remove(requestKey(made.requestId));
    await expect(create(submission(), measuring(png))).rejects.toMatchObject({
      fields: { 'references[0]': 'is not an output of yours' },
    });
  });

  test('signs nothing and measures nothing where all files are of others', async () => {
    const measure = measuring();
    const request = await create(anImageSubmission({ references: [OTHERS] }), measure);

    expect(measure).not.toHaveBeenCalled();
    expect(secrets.reads()).not.toHaveProperty([`GetSecretValue ${KEY_ARN}`]);
    expect(request).not.toHaveProperty('inputsExpireAt');
  });

  test('of a video from a frame is billed for its own seconds, and has no clips', async () => {
    const frame = upload();
    const submission = aVideoSubmission({ image: `${FILES}/${frame}`, durationSec: 4, resolution: '480p' });

    const request = await create(submission, measuring(png));

    expect(request).toMatchObject({ image: frame, billedSeconds: 4, debitThousandths: 12_000 });
    expect(request).not.toHaveProperty('clips');
  });

  test('of a video from a clip and images is billed for the clip alone', async () => {
    const [still, clip] = [upload(), upload('mov')];
    const body = { referenceImages: [`${FILES}/${still}`], referenceVideos: [`${FILES}/${clip}`] };
    const measure = measuring(png, aClip(2_500, 'mp4'));

    const request = await create(aVideoSubmission({ ...body, resolution: '480p' }), measure);

    expect(measure.mock.calls[0]?.[0]).toMatchObject({
      files: [{ medium: 'image' }, { medium: 'video' }],
      longestSeconds: 15,
    });
    expect(request).toMatchObject({ billedSeconds: 8, clips: [`clips/${request.requestId}/0.mp4`] });
    // The file keeps its name, whatever it is measured as.
    expect(request).toMatchObject({ referenceImages: [still], referenceVideos: [clip] });
  });

  test.each<[string, () => Promise<InputMeasure[]>, object]>([
    [
      'cannot be used',
      async () => [{ problem: 'is cut off' }],
      { fields: { 'references[0]': 'is cut off' } },
    ],
    [
      'is not there',
      async () => [{ problem: 'could not be fetched', status: 403 }],
      { fields: { 'references[0]': 'is not there: it was not uploaded, or was removed' } },
    ],
    [
      'is not what it was declared to be',
      async () => [{ ...png, contentType: 'image/gif' }],
      { fields: { 'references[0]': 'is GIF, and was declared as PNG' } },
    ],
    ['could not be measured', () => Promise.reject(new Error('No answer.')), { message: 'No answer.' }],
  ])('of which one %s is refused, and no copy is looked for', async (_, measure, refusal) => {
    const submission = anImageSubmission({ references: [`${FILES}/${upload()}`] });

    await expect(create(submission, measure)).rejects.toMatchObject(refusal);
    expect(discard).not.toHaveBeenCalled();
    nothingWritten();
  });

  test.each([
    ['another account’s', () => upload('png', 'acc_2'), 'is an upload of another account'],
    ['of another kind', () => upload('mp4'), 'is a video, not an image'],
    ['no input', () => 'openapi.json', 'is not an upload or an output of yours'],
  ])('of which one is %s is refused before it is measured', async (_, keyOf, problem) => {
    const measure = measuring(png);
    const submission = anImageSubmission({ references: [OTHERS, `${FILES}/${keyOf()}`] });

    await expect(create(submission, measure)).rejects.toMatchObject({
      fields: { 'references[1]': problem },
    });
    expect(measure).not.toHaveBeenCalled();
  });
});

test('Files that came with a creation are measured by their bytes, and get the extension of their type', async () => {
  const [own, bytes] = [upload(), Buffer.from('a jpeg')];
  const submission = anImageSubmission({ references: [`${FILES}/${own}`] });
  const measure = measuring({ ...png, contentType: 'image/jpeg' });

  const request = await create(submission, measure, new Map([[own, bytes]]));

  expect(measure.mock.calls[0]?.[0].files).toEqual([{ medium: 'image', base64: bytes.toString('base64') }]);
  expect(secrets.reads()).not.toHaveProperty([`GetSecretValue ${KEY_ARN}`]);
  expect(request).toMatchObject({ references: [own.replace(/png$/, 'jpg')] });
  await expect(
    create(submission, measuring({ problem: 'is cut off' }), new Map([[own, bytes]])),
  ).rejects.toMatchObject({ fields: { 'references[0]': 'is cut off' } });
});
