/** A block of a cluster. */
export interface Block {
  /** Number of its track. */
  track: number;
  /** Relative to its cluster, in units of the segment. */
  time: number;
  frames: number;
}

/** The fields of a track that determine the timing of its blocks. */
export interface MatroskaTrack {
  number: number;
  isVideo: boolean;
  /** Whether it is video or sound. */
  isTimed: boolean;
  /** How long a frame lasts by default. */
  frameNanoseconds: number | undefined;
  /** Factor of its times, which few players know. */
  scale: number;
}

/** The latest blocks of a track, in units of the segment. */
interface TrackTimes {
  /** When the latest block begins, and its frames. */
  latest: { time: number; frames: number; duration?: number };
  /** When the block before it begins. */
  earlier: number | undefined;
  frames: number;
}

/** The blocks read so far. */
export interface Timeline {
  /** When the current cluster begins, in units of the segment. */
  clusterTime: number;
  tracks: Map<number, TrackTimes>;
  /** Of the block that a duration would be of. */
  lastBlock: { duration?: number } | undefined;
}

/** A timeline without blocks. */
export const newTimeline = (): Timeline => ({ clusterTime: 0, tracks: new Map(), lastBlock: undefined });

/** Adds a block of the current cluster. Blocks come in any order of time. */
export const addBlock = (timeline: Timeline, { track, time, frames }: Block): void => {
  const block: TrackTimes['latest'] = { time: timeline.clusterTime + time, frames };
  timeline.lastBlock = block;
  const times = timeline.tracks.get(track);
  if (!times) {
    timeline.tracks.set(track, { latest: block, earlier: undefined, frames });
    return;
  }
  times.frames += frames;
  if (block.time > times.latest.time) {
    times.earlier = times.latest.time;
    times.latest = block;
  } else if (block.time < times.latest.time) {
    times.earlier = Math.max(block.time, times.earlier ?? block.time);
  }
};

/**
 * When the last frame of the video and sound tracks ends, in seconds, and the number of pictures. A frame lasts as long as
 * its block says, else its track, else as long as the one before it. A track that is not declared counts.
 */
export const secondsOfTimeline = (
  { tracks }: Timeline,
  declared: readonly MatroskaTrack[],
  unitNanoseconds: number,
): { seconds: number; frames: number } => {
  let [seconds, frames] = [0, 0];
  for (const [number, times] of tracks) {
    const track = declared.find((one) => one.number === number);
    if (track?.isVideo) frames += times.frames;
    if (track && !track.isTimed) continue;
    const scale = Number.isFinite(track?.scale) ? Math.max(1, track?.scale ?? 1) : 1;
    const end =
      (times.latest.time * unitNanoseconds * scale + durationOf(times, track, unitNanoseconds)) / 1e9;
    seconds = Math.max(seconds, end);
  }
  return { seconds, frames };
};

const durationOf = (
  { latest, earlier }: TrackTimes,
  track: MatroskaTrack | undefined,
  unitNanoseconds: number,
): number => {
  if (latest.duration !== undefined) return latest.duration * unitNanoseconds;
  if (track?.frameNanoseconds !== undefined) return latest.frames * track.frameNanoseconds;
  return earlier === undefined ? 0 : latest.frames * (latest.time - earlier) * unitNanoseconds;
};
