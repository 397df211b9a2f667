import type { UpstreamError } from '../http.ts';
import type { Fault, InputProblem, Medium } from '../input-files.ts';
import { invalidParameter } from './errors.ts';

const MEGABYTE = 1024 * 1024;
const withoutEnd = (most: number): boolean => most === Number.POSITIVE_INFINITY;

/** The reason in a message: the words after "specified in the request is not valid". */
const wordsOf = (medium: Medium, fault: Fault): string => {
  switch (fault.is) {
    case 'missing':
      return `resource download failed, ${fault.reason}`;
    case 'unreadable':
      return `the ${medium} cannot be decoded`;
    case 'format':
      return `${medium} format ${fault.found} is not supported, expected one of ${fault.allowed.join(', ')}`;
    case 'alpha':
      return `${medium} with an alpha channel is not supported`;
    case 'bytes':
      return `${medium} size must be at most ${fault.most / MEGABYTE} MB`;
    case 'sides':
      return withoutEnd(fault.most)
        ? `${medium} width and height must be at least ${fault.least} px`
        : `${medium} width and height must be between ${fault.least} and ${fault.most} px`;
    case 'area':
      return `${medium} size must be at most ${fault.most} pixels`;
    case 'ratio':
      return `${medium} aspect ratio must be between 1/${fault.most} and ${fault.most}`;
    case 'seconds':
      return `${medium} duration must be between ${fault.least} and ${fault.most} seconds`;
    case 'total':
      return `total ${medium} duration must be at most ${fault.most} seconds`;
    case 'frames':
      return `${medium} frame rate must be at least ${fault.least} fps`;
  }
};

/** 400: an input file could not be had, or is not one that the model takes. ModelArk's form for an invalid value; what follows it is not published. */
export const invalidInputFile = ({ field, medium, fault }: InputProblem): UpstreamError =>
  invalidParameter(field, wordsOf(medium, fault));
