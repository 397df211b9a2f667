import { describe, expect, test } from '@jest/globals';
import type { InputFault } from '../../../core/errors.ts';
import { classify, type ProviderErrors } from '../../../providers/error-classes.ts';
import { FAL_ERRORS } from '../../../providers/fal/errors.ts';
import { ARK_ERRORS } from '../../../providers/modelark/errors.ts';
import { MODEL_STUDIO_ERRORS } from '../../../providers/modelstudio/errors.ts';

describe('the input that was refused', () => {
  test.each<[string, ProviderErrors, { code: string; message?: string; at?: string }, InputFault]>([
    [
      'a path in a video of ModelArk',
      ARK_ERRORS,
      {
        code: 'InvalidParameter',
        message:
          'The parameter `content[2].image_url` specified in the request is not valid: its server answered 403.',
      },
      { reason: 'unfetched', status: 403, medium: 'image', file: 1 },
    ],
    [
      'a path in images of ModelArk',
      ARK_ERRORS,
      { code: 'InvalidParameter', at: 'image[3]', message: 'its sides must be longer than 14 px' },
      { reason: 'size', file: 3 },
    ],
    [
      'a field of ModelArk',
      ARK_ERRORS,
      { code: 'InvalidParameter', at: 'size', message: 'image size must be at least 3686400 pixels' },
      { reason: 'small', medium: 'image', field: 'size' },
    ],
    [
      'a person in a picture',
      ARK_ERRORS,
      {
        code: 'InputImageSensitiveContentDetected.PrivacyInformation',
        message: "the input image 'content[1]' may contain real person",
      },
      { reason: 'content', medium: 'image', file: 0 },
    ],
    [
      'a text',
      ARK_ERRORS,
      { code: 'InputTextSensitiveContentDetected' },
      { reason: 'content', field: 'prompt' },
    ],
    [
      'a length',
      MODEL_STUDIO_ERRORS,
      {
        code: 'InvalidFile.Duration',
        message: 'Invalid file duration. The file duration must be 1 s ~ 15 s.',
      },
      { reason: 'duration' },
    ],
    [
      'frames',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidFile.FPS', message: 'Invalid video FPS. The video FPS must be 16 ~ 60.' },
      { reason: 'rate', medium: 'video' },
    ],
    [
      'a shape',
      MODEL_STUDIO_ERRORS,
      {
        code: 'InvalidFile.AspectRatio',
        message: 'Invalid file ratio. The file aspect ratio must be between 3:1 and 1:3.',
      },
      { reason: 'ratio' },
    ],
    [
      'a format',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidURL', message: 'File type is not supported. Allowed types are: .wav, .mp3.' },
      { reason: 'format' },
    ],
    [
      'a large sound',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidURL', message: 'File size is larger than 15MB.' },
      { reason: 'large' },
    ],
    [
      'a long sound',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidURL', message: 'The input audio is longer than 30s.' },
      { reason: 'duration', medium: 'audio' },
    ],
    [
      'a picture that cannot be read',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidParameter', message: 'Failed to decode the image during the data inspection.' },
      { reason: 'unreadable', medium: 'image' },
    ],
    [
      'a download that failed',
      MODEL_STUDIO_ERRORS,
      {
        code: 'InvalidParameter',
        message: 'Unable to download the media resource during the data inspection process.',
      },
      { reason: 'unfetched' },
    ],
    [
      'a download that took too long',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidURL.Timeout', message: 'Download x timeout, please check network connection.' },
      { reason: 'slow' },
    ],
    [
      'a path in a video of Model Studio',
      MODEL_STUDIO_ERRORS,
      {
        code: 'InvalidParameter',
        message: 'The file of input.media[1] is not valid: it has fewer than 16 fps.',
      },
      { reason: 'rate', medium: 'video', file: 1 },
    ],
    [
      'only a code',
      MODEL_STUDIO_ERRORS,
      { code: 'InvalidImageFormat' },
      { reason: 'format', medium: 'image' },
    ],
    [
      'a text for Model Studio',
      MODEL_STUDIO_ERRORS,
      { code: 'DataInspectionFailed', message: 'Input text data may contain inappropriate content.' },
      { reason: 'content', field: 'prompt' },
    ],
    [
      'a picture for Model Studio',
      MODEL_STUDIO_ERRORS,
      { code: 'DataInspectionFailed', message: 'Input image data may contain inappropriate content.' },
      { reason: 'content', medium: 'image' },
    ],
    [
      'an input for Model Studio',
      MODEL_STUDIO_ERRORS,
      {
        code: 'IPInfringementSuspect',
        message: 'Input data is suspected of being involved in IP infringement.',
      },
      { reason: 'content' },
    ],
    [
      'a reference of fal',
      FAL_ERRORS,
      { code: 'file_download_error', at: 'reference_video_urls[1]', message: 'Failed to download the file.' },
      { reason: 'unfetched', field: 'referenceVideos[1]' },
    ],
    [
      'a frame of fal',
      FAL_ERRORS,
      { code: 'image_too_small', at: 'start_image_url' },
      { reason: 'small', medium: 'image', field: 'image' },
    ],
    [
      'content of fal',
      FAL_ERRORS,
      { code: 'content_policy_violation', at: 'prompt' },
      { reason: 'content', field: 'prompt' },
    ],
    [
      'a status that is no reason',
      ARK_ERRORS,
      { code: 'InvalidParameter', message: 'The image is too large: error 413.' },
      { reason: 'large', medium: 'image' },
    ],
  ])('is told by the words of the maker: %s', (_, errors, error, input) => {
    expect(classify(errors, error, 400).input).toEqual(input);
  });

  test.each<[string, ProviderErrors, { code: string; message?: string }]>([
    ['ModelArk', ARK_ERRORS, { code: 'OutputVideoSensitiveContentDetected.PolicyViolation' }],
    [
      'Model Studio',
      MODEL_STUDIO_ERRORS,
      { code: 'DataInspectionFailed', message: 'Output data may contain inappropriate content.' },
    ],
  ])('is none where the output was: %s', (_, errors, error) => {
    expect(classify(errors, error)).toEqual({ errorClass: 'content', isOfOutput: true });
  });

  test.each<[string, ProviderErrors, { code: string; message?: string }]>([
    [
      'Model Studio',
      MODEL_STUDIO_ERRORS,
      { code: 'DataInspectionFailed', message: 'Input or output data may contain inappropriate content.' },
    ],
    [
      'Model Studio, with neither side named',
      MODEL_STUDIO_ERRORS,
      { code: 'DataInspectionFailed', message: 'Inappropriate content.' },
    ],
    ['fal', FAL_ERRORS, { code: 'content_policy_violation', message: 'The content was flagged.' }],
  ])('is not known where the maker does not say: %s', (_, errors, error) => {
    expect(classify(errors, error)).toEqual({ errorClass: 'content' });
  });
});
