/** What one process measured. Memory is resident set size. */
export interface WayFigures {
  storedBytes: number;
  /** Before the large file, with everything loaded. */
  baselineBytes: number;
  /** The most at any time. */
  peakBytes: number;
  milliseconds: number;
}

/** The runs of one way of storing. */
export interface Way {
  way: string;
  runs: WayFigures[];
}

/** What storing a video of 200 MB may add to the memory of a process. */
export const LIMIT_MEGABYTES = 160;

const MEGABYTE = 1_000_000;
const megabytes = (bytes: number): number => Math.round(bytes / MEGABYTE);

/** What storing added to the memory, in the worst of its runs, in bytes. */
export const addedBytes = ({ runs }: Way): number =>
  Math.max(...runs.map(({ baselineBytes, peakBytes }) => peakBytes - baselineBytes));

/** Whether a way stays within the limit in every run. */
export const holdsLimit = (way: Way): boolean => addedBytes(way) <= LIMIT_MEGABYTES * MEGABYTE;

/** The figures as `docs/bench-memory.md` shows them. */
export const reportOf = (ways: readonly Way[]): string => {
  const [streamed] = ways;
  const stored = megabytes(streamed?.runs[0]?.storedBytes ?? 0);
  const verdict = streamed && holdsLimit(streamed) ? 'It does.' : '**It does not.**';
  return `# What storing a video costs in memory

Made by \`npm run bench:memory\`, which writes the same figures to \`bench/memory.json\`: change neither by hand.

An MP4 of ${stored} MB is fetched from a server on the same machine and put into a bucket there, as fast as both go. **streamed** is
how the service does it (\`storeVideo\` in \`core/objects.ts\`): part by part as the file arrives. **buffered** reads all of it and
puts it then, for comparison.

Each run is a process of its own. **Baseline** is its resident memory with everything loaded and a small video stored,
**peak** the most it ever had, **added** the difference.

Storing ${stored} MB should add at most ${LIMIT_MEGABYTES} MB when it is streamed. ${verdict}

| way | run | baseline MB | peak MB | added MB | seconds |
| --- | ---: | ---: | ---: | ---: | ---: |
${ways.flatMap(rowsOf).join('')}`;
};

const rowsOf = ({ way, runs }: Way): string[] =>
  runs.map(({ baselineBytes, peakBytes, milliseconds }, index) => {
    const memory = [baselineBytes, peakBytes, peakBytes - baselineBytes].map(megabytes);
    return `| ${[way, index + 1, ...memory, (milliseconds / 1000).toFixed(1)].join(' | ')} |\n`;
  });
