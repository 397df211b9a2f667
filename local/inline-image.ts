/** How a terminal takes images between its text. */
export type InlineProtocol = 'kitty' | 'iterm2';

/** Terminals that speak a protocol, by `TERM_PROGRAM`. */
const PROGRAMS: Readonly<Record<string, InlineProtocol>> = {
  ghostty: 'kitty',
  'iTerm.app': 'iterm2',
  WezTerm: 'iterm2',
};

/** Variables set when another program reads the output before the terminal, or there is no terminal. */
const BETWEEN = ['TMUX', 'STY', 'CI'];

/**
 * The image protocol of the terminal behind standard output; undefined when it has none or is unknown. Also
 * undefined when it is not reached directly: under tmux, screen or CI, or through a pipe. Reads only the
 * environment: sends no query to the terminal.
 */
export const inlineProtocolOf = (
  environment: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): InlineProtocol | undefined => {
  const { TERM = '', TERM_PROGRAM = '', LC_TERMINAL } = environment;
  if (!isTerminal || BETWEEN.some((name) => environment[name])) return undefined;
  if (TERM === '' || TERM === 'dumb' || /^(screen|tmux)/.test(TERM)) return undefined;
  if (TERM === 'xterm-kitty' || TERM === 'xterm-ghostty') return 'kitty';
  // The second is what iTerm2 hands on to other machines.
  return PROGRAMS[TERM_PROGRAM] ?? (LC_TERMINAL === 'iTerm2' ? 'iterm2' : undefined);
};

/** Width of an image, in columns of the terminal. */
const COLUMNS = 40;
/** Most base64 characters in one escape sequence of kitty's protocol. */
const CHUNK = 4096;

const ESCAPE = '\u001b';
const BELL = '\u0007';

const ENCODERS: Record<InlineProtocol, (png: Uint8Array) => string> = {
  // https://sw.kovidgoyal.net/kitty/graphics-protocol/: a=T shows it at once, f=100 is PNG, q=2 keeps the terminal from answering.
  kitty(png) {
    const data = Buffer.from(png).toString('base64');
    let sequences = '';
    for (let from = 0; from < data.length; from += CHUNK) {
      const more = from + CHUNK < data.length ? 1 : 0;
      const keys = from === 0 ? `a=T,f=100,q=2,c=${COLUMNS},m=${more}` : `m=${more}`;
      sequences += `${ESCAPE}_G${keys};${data.slice(from, from + CHUNK)}${ESCAPE}\\`;
    }
    return sequences;
  },
  // https://iterm2.com/documentation-images.html
  iterm2(png) {
    const facts = `inline=1;size=${png.byteLength};width=${COLUMNS};preserveAspectRatio=1`;
    return `${ESCAPE}]1337;File=${facts}:${Buffer.from(png).toString('base64')}${BELL}`;
  },
};

/** The escape sequences that show a PNG in a terminal. */
export const inlineImage = (protocol: InlineProtocol, png: Uint8Array): string => ENCODERS[protocol](png);
