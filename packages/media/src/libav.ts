import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The functions of libav.js that are called here. A 64-bit number is two of 32 bits: the second function gives the high one. */
export interface Libav {
  HEAPU8: Uint8Array;
  onblockread: (name: string, position: number, length: number) => void;
  ff_block_reader_dev_send(name: string, position: number, data: Uint8Array): void;
  mkblockreaderdev(name: string, sizeBytes: number): void;
  unlink(name: string): void;
  av_log_set_level(level: number): void;
  av_dict_set_js(dictionary: number, key: string, value: string, flags: number): number;
  avformat_open_input_js(name: string, format: string, options: number): Promise<number>;
  avformat_find_stream_info(context: number, options: number): Promise<number>;
  avformat_close_input_js(context: number): Promise<void>;
  av_packet_alloc(): number;
  av_packet_unref(packet: number): void;
  av_packet_free_js(packet: number): void;
  av_read_frame(context: number, packet: number): number | Promise<number>;
  AVFormatContext_nb_streams(context: number): number;
  AVFormatContext_streams_a(context: number, index: number): number;
  AVFormatContext_duration(context: number): number;
  AVFormatContext_durationhi(context: number): number;
  AVStream_codecpar(stream: number): number;
  AVStream_duration(stream: number): number;
  AVStream_durationhi(stream: number): number;
  AVStream_time_base_num(stream: number): number;
  AVStream_time_base_den(stream: number): number;
  AVCodecParameters_codec_type(parameters: number): number;
  AVCodecParameters_width(parameters: number): number;
  AVCodecParameters_height(parameters: number): number;
  AVPacket_stream_index(packet: number): number;
  AVPacket_flags(packet: number): number;
  AVPacket_pts(packet: number): number;
  AVPacket_ptshi(packet: number): number;
  AVPacket_dts(packet: number): number;
  AVPacket_dtshi(packet: number): number;
  AVPacket_duration(packet: number): number;
  AVPacket_durationhi(packet: number): number;
}

/** The few types of WebAssembly that this module needs. Node's have none. */
declare global {
  namespace WebAssembly {
    type Imports = Record<string, Record<string, unknown>>;
    interface Instance {
      exports: Record<string, unknown>;
    }
    class Memory {
      readonly buffer: ArrayBuffer;
      grow: (pages: number) => number;
    }
    function compile(bytes: Uint8Array): Promise<Module>;
    function instantiate(module: Module, imports: Imports): Promise<Instance>;
  }
}

type Factory = (options: {
  print: (line: string) => void;
  printErr: (line: string) => void;
  instantiateWasm: (imports: WebAssembly.Imports, take: (instance: WebAssembly.Instance) => void) => object;
}) => Promise<Libav>;

/** The package of the library. */
export const LIBAV_PACKAGE = '@libav.js/variant-webcodecs';
/** Its build without threads. */
const BUILD = 'libav-6.10.9.0-webcodecs.wasm';
/** The files that are loaded, in the folder of the package. */
export const LIBAV_FILES = ['package.json', `dist/${BUILD}.mjs`, `dist/${BUILD}.wasm`];

/** A clip of 100 MB takes the 24 MiB that the library begins with; two million pictures take more than this. */
export const MAX_HEAP_BYTES = 128 * 1024 * 1024;
/** It logs nothing, not even what it panics at. */
const QUIET = -8;
const PAGE_BYTES = 65_536;

/** FFmpeg's demuxers, and whether they were ever refused memory. A file then reads as shorter than it is, without an error. */
export interface BoundedLibav {
  libav: Libav;
  wasRefusedMemory: () => boolean;
}

/** The library's files, loaded and compiled. */
interface Build {
  factory: Factory;
  wasm: WebAssembly.Module;
}

const readBuild = async (): Promise<Build> => {
  const description = findPackageJSON(LIBAV_PACKAGE, import.meta.url);
  if (description === undefined) throw new Error(`The package ${LIBAV_PACKAGE} is not installed.`);
  const build = join(dirname(description), 'dist', BUILD);
  const { default: factory } = (await import(pathToFileURL(`${build}.mjs`).href)) as { default: Factory };
  return { factory, wasm: await WebAssembly.compile(readFileSync(`${build}.wasm`)) };
};

/** Compiling is most of what the library takes to load. */
let compiled: Promise<Build> | undefined;

/**
 * Loads FFmpeg's demuxers anew, with a heap of at most so many bytes that nothing else reads or writes. Throws when the files of its package are
 * not there.
 */
export const loadLibav = async (maxHeapBytes: number): Promise<BoundedLibav> => {
  compiled ??= readBuild();
  const { factory, wasm } = await compiled;
  let refused = false;
  const started = Promise.withResolvers<never>();
  const libav = await Promise.race([
    started.promise,
    factory({
      // What a stranger's file makes the library say belongs in no log.
      print: () => undefined,
      printErr: () => undefined,
      instantiateWasm: (imports, take) => {
        const watched = watching(imports, () => {
          refused = true;
        });
        WebAssembly.instantiate(wasm, watched).then((instance) => {
          limitMemory(instance, maxHeapBytes);
          take(instance);
        }, started.reject);
        return {};
      },
    }),
  ]);
  libav.av_log_set_level(QUIET);
  return { libav, wasRefusedMemory: () => refused };
};

/** The imports of the library, wrapped to report a result of `false`, which only a refused request for memory returns. */
const watching = (imports: WebAssembly.Imports, onRefusal: () => void): WebAssembly.Imports =>
  Object.fromEntries(
    Object.entries(imports).map(([module, members]) => [
      module,
      Object.fromEntries(
        Object.entries(members).map(([name, member]) => [
          name,
          typeof member !== 'function'
            ? member
            : (...given: unknown[]) => {
                const answer = member(...given);
                if (answer === false) onRefusal();
                return answer;
              },
        ]),
      ),
    ]),
  );

/** Lets an instance's memory grow no further than this. Its own limit is 2 GiB. */
const limitMemory = ({ exports }: WebAssembly.Instance, maxBytes: number): void => {
  const memory = Object.values(exports).find((member) => member instanceof WebAssembly.Memory);
  if (!memory) throw new Error('libav.js exports no memory.');
  const grow = memory.grow.bind(memory);
  memory.grow = (pages) => {
    if (memory.buffer.byteLength + pages * PAGE_BYTES > maxBytes) throw new RangeError('Too much memory.');
    return grow(pages);
  };
};
