/** A kind of file that a call names. */
export type Medium = 'image' | 'video' | 'audio';

/** A file that a call names. */
export type InputFile = { kind: Medium; url: string; field: string };

/** The limit of a model that a file breaks, with its figures. Sizes in bytes, sides and areas in pixels, times in seconds. */
export type Fault =
  | { is: 'missing'; reason: string }
  | { is: 'unreadable' }
  | { is: 'format'; found: string; allowed: readonly string[] }
  | { is: 'alpha' }
  | { is: 'bytes'; most: number }
  | { is: 'sides'; least: number; most: number; isBelow: boolean }
  | { is: 'area'; most: number }
  | { is: 'ratio'; most: number }
  | { is: 'seconds'; least: number; most: number; seconds: number }
  | { is: 'total'; most: number }
  | { is: 'frames'; least: number };

/** Why the files of a call cannot be used: the first that breaks a limit. */
export type InputProblem = { field: string; url: string; medium: Medium; fault: Fault };

/** What became of the files of a call. */
export type Inputs = {
  /** The first problem of them; absent when all can be used. */
  problem?: InputProblem;
  /** Of all videos together; 0 for files that are not fetched. */
  videoSeconds: number;
};

/** Fetches and checks the files of a call to a model. Never rejects. */
export type CheckInputs = (model: unknown, files: readonly InputFile[]) => Promise<Inputs>;

/** Takes every file as it is, as where nothing can be fetched. */
export const takeAllInputs: CheckInputs = async () => ({ videoSeconds: 0 });
