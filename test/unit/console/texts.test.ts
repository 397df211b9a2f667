import { execFileSync } from 'node:child_process';
import { isIP as isIPOfNode } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { SAMPLES } from '../../../console/make/code-samples.ts';
import { isIP } from '../../../console/node-net.ts';
import { capitalized, countText, durationText, xTokensText } from '../../../console/parts/texts.ts';

test.each([
  [80, '80 ms'],
  [4_200, '4.2 s'],
  [59_900, '59 s'],
  [61_000, '1 min 1 s'],
  [82_740_000, '22 h 59 min'],
  [3_600_000, '1 h'],
  [90_000_000, '1 d 1 h'],
])('%s ms are %s', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text);
});

test('xTokens have at most three decimals', () => {
  expect([0, 4, 1234.5, 0.125].map(xTokensText)).toEqual(['0', '4', '1,234.5', '0.125']);
});

test('Counts have their noun in the right number, and separators', () => {
  expect([0, 1, 1234].map((count) => countText(count, 'request'))).toEqual([
    ...['0 requests', '1 request', '1,234 requests'],
  ]);
  expect(capitalized('queued')).toBe('Queued');
});

describe('the request as code', () => {
  const prompt = 'it\'s "a" $HOME \\n lighthouse – 灯台';
  const creation = {
    baseUrl: 'https://api.example.com',
    path: '/v1/videos',
    body: { model: 'xW3.0s', prompt, durationSec: 2 },
  } as const;

  test('names the key by the environment only', () => {
    for (const sample of Object.values(SAMPLES)) expect(sample(creation)).toContain('GENERATION_API_KEY');
  });

  test('is quoted so that the shell sends it as it is', () => {
    const printed = SAMPLES.curl(creation).replace(/^curl/, 'printf "%s\\n"');

    const sent = execFileSync('sh', ['-c', printed], { encoding: 'utf8' });
    expect(JSON.parse(sent.slice(sent.indexOf('{')))).toEqual(creation.body);
  });

  test('is a call of the client that fits the kind, with the body as a literal', () => {
    const code = SAMPLES.TypeScript(creation);
    const literal = /createVideo\((\{[\s\S]*?\n\})\)/.exec(code)?.[1] ?? '';

    expect(JSON.parse(literal)).toEqual(creation.body);
    expect(SAMPLES.TypeScript({ ...creation, path: '/v1/generations' })).toContain('createImage');
  });

  test('is Python, too', () => {
    const literal = /body = (\{[\s\S]*?\n\})\n/.exec(SAMPLES.Python(creation))?.[1] ?? '';

    expect(JSON.parse(literal)).toEqual(creation.body);
  });
});

test.each([
  ...[
    '127.0.0.1',
    '10.0.0.255',
    '1.2.3',
    '256.1.1.1',
    '01.2.3.4',
    '::1',
    '::ffff:10.0.0.1',
    'fe80::1',
    '2001:db8::',
  ],
  ...['example.com', '', '1', '1:2', 'a.b.c.d'],
])('In the browser, %s is the address that Node.js takes it for', (text) => {
  expect(isIP(text)).toBe(isIPOfNode(text));
});
