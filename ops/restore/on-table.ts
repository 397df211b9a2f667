import type { EnvironmentName } from '../../core/environment.ts';

const VARIABLE: EnvironmentName = 'TABLE_NAME';

/** Runs `work` on another table. It changes the environment of the process: nothing else may use the table meanwhile. */
export const onTable = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
  const before = process.env[VARIABLE];
  process.env[VARIABLE] = name;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env[VARIABLE];
    else process.env[VARIABLE] = before;
  }
};
