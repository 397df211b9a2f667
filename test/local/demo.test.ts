import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { DEFAULT_BASE_URL, demoEnding } from '../../local/demo-ending.ts';
import { inlineImage, inlineProtocolOf } from '../../local/inline-image.ts';

describe('which terminals are shown images', () => {
  test.each([
    [{ TERM: 'xterm-kitty' }, 'kitty'],
    [{ TERM: 'xterm-ghostty' }, 'kitty'],
    [{ TERM: 'xterm-256color', TERM_PROGRAM: 'ghostty' }, 'kitty'],
    [{ TERM: 'xterm-256color', TERM_PROGRAM: 'iTerm.app' }, 'iterm2'],
    [{ TERM: 'xterm-256color', TERM_PROGRAM: 'WezTerm' }, 'iterm2'],
    [{ TERM: 'xterm-256color', LC_TERMINAL: 'iTerm2' }, 'iterm2'],
  ])('%j by %s', (environment, protocol) => {
    expect(inlineProtocolOf(environment, true)).toBe(protocol);
  });

  test.each([
    {},
    { TERM: 'xterm-256color' },
    { TERM: 'dumb', TERM_PROGRAM: 'iTerm.app' },
    { TERM: 'xterm-256color', TERM_PROGRAM: 'Apple_Terminal' },
    { TERM: 'xterm-256color', TERM_PROGRAM: 'vscode' },
    { TERM: 'xterm-kitty', TMUX: '/tmp/tmux-1000/default,1,0' },
    { TERM: 'tmux-256color', TERM_PROGRAM: 'iTerm.app' },
    { TERM: 'screen.xterm-256color', LC_TERMINAL: 'iTerm2' },
    { TERM: 'xterm-kitty', STY: '1.pts' },
    { TERM: 'xterm-kitty', CI: 'true' },
    // Set by a terminal that another one was started from.
    { TERM: 'xterm-256color', KITTY_WINDOW_ID: '1' },
  ])('not %j', (environment) => {
    expect(inlineProtocolOf(environment, true)).toBeUndefined();
  });

  test('none when the output is piped', () => {
    expect(inlineProtocolOf({ TERM: 'xterm-kitty' }, false)).toBeUndefined();
  });
});

describe('an image in the terminal', () => {
  const png = Uint8Array.from({ length: 7_000 }, (_, index) => index % 251);

  test('goes to kitty in chunks of at most 4,096 characters, and asks for no answer', () => {
    const sequences = inlineImage('kitty', png).split('\u001b\\');

    expect(sequences.pop()).toBe('');
    expect(sequences.map((sequence) => sequence.slice(0, sequence.indexOf(';')))).toEqual([
      '\u001b_Ga=T,f=100,q=2,c=40,m=1',
      '\u001b_Gm=1',
      '\u001b_Gm=0',
    ]);
    const chunks = sequences.map((sequence) => sequence.slice(sequence.indexOf(';') + 1));
    expect(chunks.map(({ length }) => length)).toEqual([4096, 4096, 1144]);
    expect(new Uint8Array(Buffer.from(chunks.join(''), 'base64'))).toEqual(png);
  });

  test('of one chunk is whole in one sequence', () => {
    expect(inlineImage('kitty', png.subarray(0, 3))).toBe('\u001b_Ga=T,f=100,q=2,c=40,m=0;AAEC\u001b\\');
  });

  test('goes to iTerm2 in one sequence with its size', () => {
    expect(inlineImage('iterm2', png.subarray(0, 3))).toBe(
      '\u001b]1337;File=inline=1;size=3;width=40;preserveAspectRatio=1:AAEC\u0007',
    );
  });
});

describe('the end of the demo', () => {
  test('names the files, the command that goes on, and the address of its console', () => {
    const ending = demoEnding(['out/img_1_0.jpg', 'out/vid_2_0.mp4']);

    expect(ending).toMatch(/^Saved: out\/img_1_0\.jpg, out\/vid_2_0\.mp4\n/);
    expect(ending).toContain('\n  npm start\n');
    expect(ending).toContain(`${DEFAULT_BASE_URL}/console`);
  });

  test('names the port that npm start takes', async () => {
    const start = await readFile(new URL('../../local/run/start-command.ts', import.meta.url), 'utf8');

    expect(start).toContain(`.default(${new URL(DEFAULT_BASE_URL).port})`);
  });
});
