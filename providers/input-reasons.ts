import { type InputReason, MEDIA, type Medium } from '../core/errors.ts';
import type { ToldError } from './error-bodies.ts';

/** Why an input was refused, by the words of the makers' messages; the first that fits. */
const BY_MESSAGE: readonly [InputReason, RegExp][] = [
  ['slow', /download[^.]*\btime(d )?-?out|\btime(d )?-?out[^.]*download/i],
  [
    'unfetched',
    /download|fetch|connecting|connection[^.]*refused|could not be (had|reached)|server answered|authorization to access|find the requested media/i,
  ],
  [
    'unreadable',
    /decod|corrupt|(cannot|can not|failed to) (be )?(open|load|read)|read (image|video|audio) error|is no (image|video|audio)|(invalid|not an?) (image|video|audio)( file)?\b(?! (format|resolution|fps|duration))/i,
  ],
  [
    'duration',
    /duration|must last|may last|(longer|shorter) than [\w.]+ ?s\b|(video|audio)[^.]*too[ _](long|short)|(audio|video) length/i,
  ],
  ['rate', /\bfps\b|frame ?rate|frames? (a|per) second/i],
  ['ratio', /aspect|\bratio\b/i],
  ['size', /too small or too large|too large or small|smallest[^.]*largest|largest[^.]*smallest/i],
  ['small', /too[ _]small|at least|below the minimum/i],
  [
    'large',
    /too[ _]large|too big|exceed|larger than|less than|smaller than|at most|beyond (the )?limit|over ?size/i,
  ],
  ['size', /sides? must|resolution|width|height|dimension/i],
  ['format', /format|content-type|file ?type|media type|\btype\b[^.]*not supported|codec|alpha|transparen/i],
  ['unfetched', /\burl\b/i],
];

/** The same by the code, which says less than a message. */
const BY_CODE: readonly [InputReason, RegExp][] = [
  ['slow', /time_?d?_?out/i],
  ['unfetched', /download|connectionrefused|invalid_?url|fetch/i],
  ['duration', /duration|audiolength|audio_?short|(video|audio)[^.]*too_?(long|short)/i],
  ['rate', /fps|frame_?rate/i],
  ['ratio', /aspect/i],
  ['small', /too_?small/i],
  ['large', /too_?large|over_?size|(file|image)_?size|\.size$/i],
  ['size', /resolution|dimension/i],
  ['unreadable', /open_?error|load_?error|decoder_?error|corrupt/i],
  ['format', /format|type/i],
];

const firstIn = (patterns: readonly [InputReason, RegExp][], text: string): InputReason | undefined =>
  patterns.find(([, pattern]) => pattern.test(text))?.[0];

const NAMES: Record<Medium, RegExp> = {
  image: /image|picture|photo/i,
  video: /video|\bclip|fps|frame ?rate/i,
  audio: /audio|sound/i,
};

/** The one medium that a text names. */
export const mediumIn = (text: string): Medium | undefined => {
  const named = MEDIA.filter((medium) => NAMES[medium].test(text));
  return named.length === 1 ? named[0] : undefined;
};

/** The HTTP status with which the server of a file answered the provider. */
const ANSWERED = /\b(?:status(?: code)?|code|answered|HTTP|error)\b[:= ]*([45]\d\d)\b/i;

/** URLs within a message: their words say nothing. */
const URLS = /\bhttps?:[^\s,]+/g;

/** Why an input was refused, the medium it is of, and its server's status, as far as the words of an error tell. `value` when they tell nothing. */
export const reasonIn = ({
  code,
  message = '',
}: ToldError): { reason: InputReason; medium: Medium | undefined; status: number | undefined } => {
  const words = message.replace(URLS, '');
  const status = ANSWERED.exec(words)?.[1];
  return {
    reason: firstIn(BY_MESSAGE, words) ?? firstIn(BY_CODE, code) ?? 'value',
    medium: mediumIn(words) ?? mediumIn(code),
    status: status === undefined ? undefined : Number(status),
  };
};
