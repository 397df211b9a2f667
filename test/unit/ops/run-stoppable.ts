import type { StoppableStreams } from '../../../ops/stoppable-program.ts';

/** What a program said, and its exit status. */
interface Said {
  status: number;
  out: string;
  err: string;
}

/** Runs a program that can be stopped by its `main`, and never stops it. */
export const runToEnd = async (
  main: (args: readonly string[], streams: StoppableStreams) => Promise<number>,
  args: readonly string[],
): Promise<Said> => {
  const said = { out: '', err: '' };
  const status = await main(args, {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    signal: new AbortController().signal,
  });
  return { status, ...said };
};
