import { describe, expect, test } from '@jest/globals';
import { parseImageRequest } from '../../../../core/creation/create-image-rules.ts';
import { parseVideoRequest } from '../../../../core/creation/create-video-rules.ts';
import { newRequest } from '../../../../core/creation/new-request.ts';
import type { NewRequest } from '../../../../core/creation/submission.ts';
import { fileUrl, toHandle } from '../../../../core/files/file-handles.ts';
import { DEFAULT_RATES } from '../../../../core/models/catalog.ts';
import type { Rate } from '../../../../core/models/rate-schemas.ts';
import { imageInput, videoInput } from '../../../../core/requests/render-record.ts';
import type { StoredRequest } from '../../../../core/requests/request-rules.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anImageRequest, aVideoRequest, REQUEST_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';

type Parse = typeof parseImageRequest | typeof parseVideoRequest;

/** The request that a body creates, and the fields that say what was asked. */
const stored = (parse: Parse, body: Record<string, unknown>): Promise<StoredRequest> => {
  const parsed = parse(body, false);
  if (!parsed.ok) throw parsed.error;
  const creation: NewRequest = parsed.creation;
  return withEnvironment({ RETENTION_DAYS: '90' }, () =>
    newRequest(
      { requestId: REQUEST_ID, accountId: ACCOUNT_ID },
      creation,
      { rate: DEFAULT_RATES[creation.model.id] as Rate },
      NOW,
    ),
  );
};
const inputOf = (request: StoredRequest) =>
  request.kind === 'image' ? imageInput(request, fileUrl) : videoInput(request, fileUrl);

const said = { prompt: 'a lighthouse', endUserEmail: 'ada@example.com' };
const A = 'https://example.com/a.png';
const WEBHOOK = 'https://example.com/hook';

describe('the input of a request', () => {
  test.each<[string, Parse, Record<string, unknown>, Record<string, unknown>]>([
    [
      'images, with every default applied',
      parseImageRequest,
      { model: 'xSD4.5' },
      { size: '2K', aspectRatio: 'auto', n: 1, references: [] },
    ],
    [
      'images of a size',
      parseImageRequest,
      { model: 'xSD4.5', size: '2048x2048', n: 3, references: [A], webhookUrl: WEBHOOK },
      { size: '2048x2048', aspectRatio: 'auto', n: 3, references: [A], webhookUrl: WEBHOOK },
    ],
    [
      'a series of images',
      parseImageRequest,
      { model: 'xSD4.5', aspectRatio: 'portrait', references: [A], sequential: 'auto' },
      {
        ...{ size: '2K', aspectRatio: 'portrait', n: 1, references: [A] },
        ...{ sequential: 'auto', sequentialOptions: { maxImages: 14 } },
      },
    ],
    [
      'a video of a model without references, with every default applied',
      parseVideoRequest,
      { model: 'xW2.7S', image: A },
      {
        ...{ resolution: '1080p', durationSec: 5, image: A },
        ...{ referenceImages: [], referenceVideos: [], referenceAudios: [] },
      },
    ],
    [
      'a video with frames',
      parseVideoRequest,
      { model: 'xW3.0s', image: A, lastFrame: A, ratio: '1:1', durationSec: 7, webhookUrl: WEBHOOK },
      {
        ...{ resolution: '1080p', durationSec: 7, ratio: '1:1', image: A, lastFrame: A, webhookUrl: WEBHOOK },
        ...{ referenceImages: [], referenceVideos: [], referenceAudios: [] },
      },
    ],
    [
      'a video with references',
      parseVideoRequest,
      { model: 'xW3.0s', referenceImages: [A], referenceVideos: [A, A], referenceAudios: [A] },
      {
        ...{ resolution: '1080p', durationSec: 5, ratio: 'adaptive' },
        ...{ referenceImages: [A], referenceVideos: [A, A], referenceAudios: [A] },
      },
    ],
  ])('for %s creates the same when it is sent again', async (_what, parse, body, expected) => {
    const request = await stored(parse, { ...said, ...body });
    const input = inputOf(request);

    expect(input).toStrictEqual(expected);
    expect(await stored(parse, { ...said, model: body.model, ...input })).toEqual(request);
  });

  test('has no query of a URL, which may hold a signature', () => {
    const signed = 'https://example.com/a.png?X-Amz-Signature=secret&x=https://b.example/?y#secret';
    const plain = 'https://example.com/a.png';

    expect(
      imageInput(anImageRequest({ references: [signed, plain], webhookUrl: signed }), fileUrl),
    ).toMatchObject({
      references: [plain, plain],
      webhookUrl: plain,
    });
    expect(
      videoInput(
        aVideoRequest({
          ...{ image: signed, lastFrame: signed, webhookUrl: signed, referenceImages: [signed] },
          ...{ referenceVideos: [signed], referenceAudios: [`${plain}#secret`] },
        }),
        fileUrl,
      ),
    ).toMatchObject({
      ...{ image: plain, lastFrame: plain, webhookUrl: plain, referenceImages: [plain] },
      ...{ referenceVideos: [plain], referenceAudios: [plain] },
    });
  });

  test('has URLs of our own files that can be used again, and hold no signature', () => {
    const output = `outputs/${REQUEST_ID}/0.png`;
    const input = imageInput(anImageRequest({ references: [output, A] }), fileUrl);

    expect(input.references).toEqual([`https://files.example.com/${output}`, A]);
    expect(input.references.map(toHandle)).toEqual([output, A]);
  });
});
