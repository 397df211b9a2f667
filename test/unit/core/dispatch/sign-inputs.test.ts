import { clearCaches } from '@aws-lambda-powertools/parameters';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { withSignedInputs } from '../../../../core/dispatch/sign-inputs.ts';
import { at } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anImageRequest, aVideoRequest, REQUEST_ID } from '../../builders/entities.ts';
import { aSigningKey } from '../../builders/signing-key.ts';
import { secrets } from '../../fakes/fresh-secrets.ts';

const FILES = 'https://files.example.com/';
const OUTPUT = `outputs/${REQUEST_ID}/0.png`;
const DEADLINE = at(600);
const seconds = (instant: string) => Date.parse(instant) / 1000;
/** The object and the end of a URL that the service signed; any other URL as it is. */
const signedAs = (url: string) => {
  if (!url.startsWith(FILES)) return url;
  const { pathname, searchParams } = new URL(url);
  expect(searchParams.get('Signature')).toBeTruthy();
  return [pathname.slice(1), Number(searchParams.get('Expires'))];
};

beforeEach(() => {
  clearCaches();
  secrets.set('arn:delivery-key', aSigningKey().privateKeyPem);
});

describe('a request as its provider gets it', () => {
  test('has signed URLs of our own files in place of their handles, until some minutes after the deadline', async () => {
    const url = 'https://pictures.example.com/a.png?x=1';
    const request = anImageRequest({ references: [OUTPUT, url], inputsExpireAt: at(100_000) });

    const sent = await withSignedInputs(request, DEADLINE);

    expect(sent.references.map(signedAs)).toEqual([[OUTPUT, seconds(at(900))], url]);
    expect(sent).toStrictEqual({ ...request, references: sent.references });
    expect(request.references).toEqual([OUTPUT, url]);
  });

  test('has no URL that works after the first of the files has expired', async () => {
    const request = aVideoRequest({ image: OUTPUT, lastFrame: OUTPUT, inputsExpireAt: at(30) });

    const { image = '', lastFrame = '' } = await withSignedInputs(request, DEADLINE);

    expect([image, lastFrame].map(signedAs)).toEqual(Array(2).fill([OUTPUT, seconds(at(30))]));
  });

  test('has the copies of its reference videos in place of those that are ours, too', async () => {
    const clips = [`clips/${REQUEST_ID}/0.mp4`, `clips/${REQUEST_ID}/1.mp4`];
    const given = { referenceVideos: [OUTPUT, 'https://a.example/b.mp4'], referenceAudios: [OUTPUT] };
    const request = aVideoRequest({ ...given, clips, inputsExpireAt: at(30) });

    const sent = await withSignedInputs(request, DEADLINE);

    expect(sent.referenceVideos.map(signedAs)).toEqual(clips.map((key) => [key, seconds(at(900))]));
    expect(sent.referenceAudios.map(signedAs)).toEqual([[OUTPUT, seconds(at(30))]]);
  });

  test('is as it was where it names none, and no key is read', async () => {
    secrets.reset();
    const request = anImageRequest({ references: ['https://pictures.example.com/a.png'], prompt: OUTPUT });

    expect(await withSignedInputs(request, DEADLINE)).toBe(request);
  });

  test.each([`clips/${REQUEST_ID}/0.mp4`, `uploads/${ACCOUNT_ID}`, 'openapi.json'])(
    'has no signature for a key that no creation can name: %s',
    async (key) => {
      const request = anImageRequest({ references: [key, OUTPUT] });

      expect((await withSignedInputs(request, DEADLINE)).references[0]).toBe(key);
    },
  );
});
