import { UpstreamError } from '../http.ts';
import type { Fault, InputProblem, Inputs, Medium } from '../input-files.ts';

const MEGABYTE = 1024 * 1024;

const upperCase = (names: readonly string[]): string => names.join(', ').toUpperCase();

/**
 * Code and message of each limit, as Model Studio's list of errors has them (https://help.aliyun.com/en/model-studio/error-code). Its
 * messages name no field. For an area it has none.
 */
const errorOf = (
  medium: Medium,
  fault: Exclude<Fault, { is: 'missing' }>,
): [code: string, message: string] => {
  switch (fault.is) {
    case 'unreadable':
      return ['InvalidFile.Openerror', `Invalid file, cannot open file as ${medium}.`];
    case 'format':
      return [
        'InvalidFile.Format',
        `Invalid file format, the request file format is one of the following types: ${upperCase(fault.allowed)}.`,
      ];
    case 'alpha':
      return ['InvalidFile.Format', `Invalid file format, the ${medium} must not have an alpha channel.`];
    case 'bytes':
      return [
        'InvalidFile.Size',
        `Invalid file size. The ${medium} file size must be less than ${fault.most / MEGABYTE}MB.`,
      ];
    case 'sides':
      return [
        'InvalidFile.Resolution',
        medium === 'video'
          ? `Invalid video resolution. The height or width of video must be ${fault.least} ~ ${fault.most}.`
          : `The image resolution is invalid, please make sure that the largest length of image is smaller than ${fault.most}, and the smallest length of image is larger than ${fault.least}.`,
      ];
    case 'area':
      return ['InvalidImage.ImageSize', 'The size of image is beyond limit.'];
    case 'ratio':
      return [
        'InvalidFile.AspectRatio',
        `Invalid file ratio. The file aspect ratio (height/width) must be between ${fault.most}:1 and 1:${fault.most}.`,
      ];
    case 'seconds':
      return [
        'InvalidFile.Duration',
        `Invalid file duration. The file duration must be ${fault.least} s ~ ${fault.most} s.`,
      ];
    case 'total':
      return [
        'InvalidFile.Duration',
        `Invalid file duration. The total ${medium} duration must be at most ${fault.most} s.`,
      ];
    case 'frames':
      return ['InvalidFile.FPS', `Invalid video FPS. The video FPS must be ${fault.least} ~ 60.`];
  }
};

const refusalOf = ({ url, medium, fault }: InputProblem): [code: string, message: string] =>
  fault.is === 'missing'
    ? ['BadRequest.InputDownloadFailed', `Failed to download the input file: ${url}, ${fault.reason}.`]
    : errorOf(medium, fault);

/** 400: an input file could not be had, or is not one that the model takes. Of a task, the code of its failure. */
export const inputProblem = (inputs: Inputs | undefined): UpstreamError | undefined => {
  if (!inputs?.problem) return undefined;
  const [code, message] = refusalOf(inputs.problem);
  return new UpstreamError(400, code, message);
};
