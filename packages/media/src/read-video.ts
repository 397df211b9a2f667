import type { Libav } from './libav.ts';
import { CUT_OFF, DAMAGED, UnreadableVideoError } from './video-type.ts';
import type { WholeBoxes } from './wholeness.ts';

/** What a video holds, by the longest of several readings. */
export interface VideoMeasurement {
  /**
   * Seconds by the container, the streams or the times of the packets, the longest of them. Edits are applied;
   * rounded to milliseconds.
   */
  durationSec: number;
  /** The longest duration that a player may show; at least `durationSec`. */
  longestSec: number;
  width?: number;
  height?: number;
  /** Pictures by the time from the first to the end of the last. */
  framesPerSecond: number;
  /** Whether the file carries a C2PA manifest; absent for none. */
  hasManifest?: true;
}

/** Names of demuxers. One is given, so that no file is taken for a playlist. */
export type Demuxer = 'mov' | 'matroska';

/** What one pass over the packets finds. */
interface Reading {
  /** Seconds by container, streams and packets shown, from where they begin. */
  seconds: number;
  /** Seconds between the ends of all times, those before the first shown picture and those of decoding too. */
  spanSeconds: number;
  pictures: number;
  /** Seconds that the pictures are shown for. */
  pictureSeconds: number;
  /** The packets of each stream. */
  packets: number[];
  width: number;
  height: number;
}

const VIDEO = 0;
const AUDIO = 1;
const END_OF_FILE = -541_478_725;
const CORRUPT_PACKET = 2;
const HIDDEN_PACKET = 4;
const MICROSECONDS = 1e6;
/**
 * Tolerance for frames that an edit list hides, but a player may show: the decoder needs them before the
 * first shown frame.
 */
const EDIT_SLACK_SECONDS = 0.25;
/** More than the fastest cameras of phones record. */
const MAX_FRAMES_PER_SECOND = 300;
/** No clip is longer than this; times that are, are no times. */
const MAX_SECONDS = 1e6;

/**
 * Reads all packets of a video; packets of MP4 and QuickTime are read a second time without edit lists. `said` is
 * what the boxes of the file say. Throws `UnreadableVideoError` for a file that has no picture or no duration, is cut
 * off or damaged, or has more than 300 pictures a second. A hostile file can make the library throw anything.
 */
export const readVideo = async (
  libav: Libav,
  name: string,
  demuxer: Demuxer,
  said: WholeBoxes,
): Promise<VideoMeasurement> => {
  const shown = await readPackets(libav, name, demuxer, 0);
  const all =
    demuxer === 'mov'
      ? await readPackets(libav, name, demuxer, libav.av_dict_set_js(0, 'ignore_editlist', '1', 0))
      : shown;
  const { seconds, pictures, pictureSeconds, width, height } = shown;
  const span = Math.max(shown.spanSeconds, all.spanSeconds, all.seconds);
  const most = Math.max(span, said.seconds);
  const longest = most > seconds + EDIT_SLACK_SECONDS ? most : seconds;
  if (!hasAll(said.neededSamples, all.packets)) throw new UnreadableVideoError(CUT_OFF);
  if (pictures === 0) throw new UnreadableVideoError('holds no video');
  if (pictures - 1 > Math.max(span, seconds) * MAX_FRAMES_PER_SECOND)
    throw new UnreadableVideoError('has too many pictures a second');
  return {
    durationSec: durationOf(seconds),
    longestSec: durationOf(longest),
    ...(width > 0 && height > 0 ? { width, height } : {}),
    framesPerSecond: pictures / (pictureSeconds > 0 ? pictureSeconds : durationOf(seconds)),
    ...(said.hasManifest && { hasManifest: true }),
  };
};

/** Whether there are streams with as many packets as the tracks have samples. */
const hasAll = (neededSamples: number[], packets: number[]): boolean => {
  const read = packets.toSorted((one, other) => other - one);
  return neededSamples
    .toSorted((one, other) => other - one)
    .every((needed, index) => (read[index] ?? 0) >= needed);
};

const durationOf = (seconds: number): number => {
  const rounded = Math.round(seconds * 1_000) / 1_000;
  if (!(rounded > 0 && rounded <= MAX_SECONDS)) throw new UnreadableVideoError('has no duration');
  return rounded;
};

const readPackets = async (
  libav: Libav,
  name: string,
  demuxer: Demuxer,
  options: number,
): Promise<Reading> => {
  const context = await libav.avformat_open_input_js(name, demuxer, options);
  if (context === 0) throw new UnreadableVideoError(DAMAGED);
  if ((await libav.avformat_find_stream_info(context, 0)) < 0) throw new UnreadableVideoError(DAMAGED);
  const packets = await timesOfPackets(libav, context);
  const reading = readingOf(libav, context, packets);
  await libav.avformat_close_input_js(context);
  return reading;
};

/** The ends of the times of a stream's packets, in its units. */
interface Times {
  packets: number;
  from: number;
  to: number;
  /** When the last picture or sound that an edit list does not hide ends. */
  shownTo: number;
  /** The latest packet shown, and when the one before it is. */
  latest: { at: number; duration: number };
  earlier: number | undefined;
  decodedFrom: number;
  decodedTo: number;
}

/** The times of all packets, by stream. */
const timesOfPackets = async (libav: Libav, context: number): Promise<Map<number, Times>> => {
  const streams = new Map<number, Times>();
  const packet = libav.av_packet_alloc();
  for (;;) {
    const found = libav.av_read_frame(context, packet);
    const result = typeof found === 'number' ? found : await found;
    if (result === END_OF_FILE) break;
    if (result < 0) throw new UnreadableVideoError(DAMAGED);
    if (libav.AVPacket_flags(packet) & CORRUPT_PACKET) throw new UnreadableVideoError(CUT_OFF);
    const index = libav.AVPacket_stream_index(packet);
    const times = streams.get(index) ?? {
      packets: 0,
      from: Number.POSITIVE_INFINITY,
      to: Number.NEGATIVE_INFINITY,
      shownTo: Number.NEGATIVE_INFINITY,
      latest: { at: Number.NEGATIVE_INFINITY, duration: 0 },
      earlier: undefined,
      decodedFrom: Number.POSITIVE_INFINITY,
      decodedTo: Number.NEGATIVE_INFINITY,
    };
    streams.set(index, times);
    addPacket(libav, packet, times);
    libav.av_packet_unref(packet);
  }
  libav.av_packet_free_js(packet);
  return streams;
};

const addPacket = (libav: Libav, packet: number, times: Times): void => {
  const decoded = wide(libav.AVPacket_dts(packet), libav.AVPacket_dtshi(packet));
  const shown = wide(libav.AVPacket_pts(packet), libav.AVPacket_ptshi(packet)) ?? decoded;
  const duration = wide(libav.AVPacket_duration(packet), libav.AVPacket_durationhi(packet)) ?? 0;
  times.packets++;
  if (shown !== undefined) {
    times.from = Math.min(times.from, shown);
    times.to = Math.max(times.to, shown + duration);
    const isHidden = (libav.AVPacket_flags(packet) & HIDDEN_PACKET) !== 0;
    if (!isHidden) times.shownTo = Math.max(times.shownTo, shown + duration);
    if (shown > times.latest.at) {
      if (times.packets > 1) times.earlier = times.latest.at;
      times.latest = { at: shown, duration };
    } else if (shown < times.latest.at) {
      times.earlier = Math.max(shown, times.earlier ?? shown);
    }
  }
  if (decoded !== undefined) {
    times.decodedFrom = Math.min(times.decodedFrom, decoded);
    times.decodedTo = Math.max(times.decodedTo, decoded + duration);
  }
};

const readingOf = (libav: Libav, context: number, packets: Map<number, Times>): Reading => {
  const container = wide(libav.AVFormatContext_duration(context), libav.AVFormatContext_durationhi(context));
  const reading = {
    seconds: (container ?? 0) / MICROSECONDS,
    spanSeconds: 0,
    pictures: 0,
    pictureSeconds: 0,
    packets: [...packets.values()].map(({ packets: count }) => count),
    width: 0,
    height: 0,
  };
  let [from, to, shownTo] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let index = 0; index < libav.AVFormatContext_nb_streams(context); index++) {
    const stream = libav.AVFormatContext_streams_a(context, index);
    const parameters = libav.AVStream_codecpar(stream);
    const type = libav.AVCodecParameters_codec_type(parameters);
    if (type !== VIDEO && type !== AUDIO) continue;
    const unit = libav.AVStream_time_base_num(stream) / libav.AVStream_time_base_den(stream);
    const duration = (wide(libav.AVStream_duration(stream), libav.AVStream_durationhi(stream)) ?? 0) * unit;
    const times = packets.get(index);
    reading.seconds = Math.max(reading.seconds, duration);
    if (!times) continue;
    if (type === VIDEO) {
      reading.pictures += times.packets;
      reading.pictureSeconds = Math.max(reading.pictureSeconds, (endOf(times, 1 / unit) - times.from) * unit);
      reading.width ||= libav.AVCodecParameters_width(parameters);
      reading.height ||= libav.AVCodecParameters_height(parameters);
    }
    from = Math.min(from, times.from * unit);
    to = Math.max(to, endOf(times, 1 / unit) * unit);
    shownTo = Math.max(shownTo, times.shownTo * unit);
    reading.spanSeconds = Math.max(reading.spanSeconds, (times.decodedTo - times.decodedFrom) * unit);
  }
  if (from <= to) {
    // What comes before the time 0 is decoded and not shown.
    reading.seconds = Math.max(reading.seconds, shownTo - Math.max(0, from));
    reading.spanSeconds = Math.max(reading.spanSeconds, to - from);
  }
  return reading;
};

/**
 * The end of the last packet. A packet without a duration lasts as long as the previous packet did, but at most a
 * second.
 */
const endOf = ({ to, latest, earlier = latest.at }: Times, secondUnits: number): number =>
  latest.duration > 0 ? to : Math.max(to, latest.at + Math.min(latest.at - earlier, secondUnits));

/** FFmpeg's mark for a time that is not known: the lowest number. */
const UNKNOWN_HIGH = -(2 ** 31);

/** A 64-bit number by its halves; undefined for a time that is not known. */
const wide = (low: number, high: number): number | undefined =>
  high === UNKNOWN_HIGH && low === 0 ? undefined : high * 2 ** 32 + (low >>> 0);
