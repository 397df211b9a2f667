import type { Reply } from '../http.ts';
import type { Fault, InputProblem, Medium } from '../input-files.ts';
import { modelError } from './errors.ts';

/** Type and message of each limit, as fal's list of errors has them (https://fal.ai/docs/model-apis/errors). */
const errorOf = (medium: Medium, fault: Fault): [type: string, message: string] => {
  switch (fault.is) {
    case 'missing':
      return [
        'file_download_error',
        'Failed to download the file. Please check if the URL is accessible and try again.',
      ];
    case 'unreadable':
      return [
        medium === 'image' ? 'image_load_error' : `unsupported_${medium}_format`,
        `Failed to load the ${medium}. Please ensure the ${medium} file is not corrupted and is in a supported format.`,
      ];
    case 'format':
    case 'alpha':
      return [`unsupported_${medium}_format`, `Unsupported ${medium} format.`];
    case 'bytes':
      return [
        'file_too_large',
        `File size exceeds the maximum allowed size of ${fault.most} bytes. Please upload a smaller file.`,
      ];
    case 'sides':
      return fault.isBelow ? ['image_too_small', 'Image too small'] : ['image_too_large', 'Image too large'];
    case 'area':
      return ['image_too_large', 'Image too large'];
    case 'ratio':
      return [
        'image_aspect_ratio_error',
        `The aspect ratio of the image should be between ${1 / fault.most} and ${fault.most}.`,
      ];
    case 'seconds':
      return fault.seconds < fault.least
        ? [
            `${medium}_duration_too_short`,
            `Duration is below the minimum. Minimum is ${fault.least} seconds.`,
          ]
        : [
            `${medium}_duration_too_long`,
            `Duration exceeds the maximum allowed. Maximum is ${fault.most} seconds.`,
          ];
    case 'total':
      return [
        `${medium}_duration_too_long`,
        `Duration exceeds the maximum allowed. Maximum is ${fault.most} seconds.`,
      ];
    case 'frames':
      return [`unsupported_${medium}_format`, `The frame rate is below ${fault.least} fps.`];
  }
};

/** 422: an input file could not be had, or is not one that the model takes. It is the result of the request. */
export const inputError = ({ field, medium, fault }: InputProblem): Reply => {
  const [type, message] = errorOf(medium, fault);
  return modelError(422, type, message, field);
};
