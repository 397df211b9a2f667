import { type FieldErrors, MEDIA } from '../errors.ts';
import { parseHandle } from '../files/file-handles.ts';
import {
  type FileFacts,
  fileProblem,
  type InputLimits,
  togetherProblem,
  typeName,
} from '../provider-calls/input-limits.ts';
import type { InputFile } from '../requests/input-files.ts';
import { contentTypeOfExtension } from '../uploads/upload-rules.ts';
import type { InputMeasure } from './input-measuring.ts';

/** An input file as measured. */
export interface MeasuredInput extends InputFile {
  measure: InputMeasure;
}

/** A route of a model by its name, with its limits on input files. */
export interface InputRoute {
  route: string;
  limits: InputLimits;
}

/**
 * The problems of input files by field, and the routes that refuse the files while another route accepts them. Files that cannot
 * be used at all are named alone; else the problems are those of the first route, where no route takes the files.
 */
export const judgeInputs = (
  inputs: readonly MeasuredInput[],
  routes: readonly InputRoute[],
): { fields: FieldErrors; unfitRoutes: string[] } => {
  const unusable = fieldsOf(inputs, unusableProblem);
  if (Object.keys(unusable).length > 0) return { fields: unusable, unfitRoutes: [] };
  const judged = routes.map(({ route, limits }) => ({ route, fields: routeProblems(inputs, limits) }));
  const unfit = judged.filter(({ fields }) => Object.keys(fields).length > 0);
  const isTaken = unfit.length < judged.length || judged.length === 0;
  return isTaken
    ? { fields: {}, unfitRoutes: unfit.map(({ route }) => route) }
    : { fields: judged[0]?.fields ?? {}, unfitRoutes: [] };
};

const fieldsOf = (
  inputs: readonly MeasuredInput[],
  problemOf: (input: MeasuredInput) => string | undefined,
): FieldErrors =>
  Object.fromEntries(
    inputs.flatMap((input) => {
      const problem = problemOf(input);
      return problem === undefined ? [] : [[input.field, problem]];
    }),
  );

/** The statuses of a file that is not in the bucket. */
const ABSENT = new Set([403, 404]);

/** Why no route can use a file: it could not be measured, or a file of ours is not what it was declared to be. */
const unusableProblem = ({ url, measure }: MeasuredInput): string | undefined => {
  const handle = parseHandle(url);
  if ('problem' in measure) {
    const isAbsent = handle && measure.status !== undefined && ABSENT.has(measure.status);
    return isAbsent ? 'is not there: it was not uploaded, or was removed' : measure.problem;
  }
  const declared = handle && contentTypeOfExtension(handle.extension);
  if (declared === undefined || isSameType(measure.contentType, declared)) return undefined;
  return `is ${typeName(measure.contentType)}, and was declared as ${typeName(declared)}`;
};

/** HEIC is a kind of HEIF, and MP4 grew out of QuickTime: writers name either by the name of the other. */
const isSameType = (one: string, other: string): boolean =>
  one === other || ALIKE.some((types) => types.includes(one) && types.includes(other));
const ALIKE = [
  ['image/heic', 'image/heif'],
  ['video/mp4', 'video/quicktime'],
];

const routeProblems = (inputs: readonly MeasuredInput[], limits: InputLimits): FieldErrors => {
  const fields = fieldsOf(inputs, ({ medium, measure }) => {
    const limit = limits[medium];
    return limit && 'contentType' in measure ? fileProblem(measure, medium, limit) : undefined;
  });
  for (const medium of MEDIA) {
    const files = inputs.filter((input) => input.medium === medium);
    const facts = files.flatMap(({ measure }): FileFacts[] => ('contentType' in measure ? [measure] : []));
    const problem = togetherProblem(facts, medium, limits[medium] ?? {});
    if (problem) fields[(files[0]?.field ?? medium).replace(/\[.*/, '')] = problem;
  }
  return fields;
};
