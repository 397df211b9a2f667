/** A file that a call names. */
export type InputFile = { kind: 'image' | 'video' | 'audio'; url: string; field: string };

/** Why the files of a call cannot be used. */
export type InputProblem = { field: string; reason: string; isMissing: boolean };

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
