import { domainToASCII, domainToUnicode } from 'node:url';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { domainToUnicode as inTheBrowser } from '../../../console/node-url.ts';

test.each([
  'xn--bcher-kva.example',
  'mail.xn--fsqu00a.xn--55qw42g',
  'xn--ls8h.la',
  'xn--80ak6aa92e.com',
  'plain.example',
])('the browser reads %s as Node.js does', (domain) => {
  expect(inTheBrowser(domain)).toBe(domainToUnicode(domain));
});

test.each(['xn--99999999.example', 'xn--bcher-kva_.example', 'xn--ü.example'])(
  'the browser finds no domain in %s',
  (domain) => {
    expect(inTheBrowser(domain)).toBe('');
  },
);

test('the browser reads every domain that Node.js spells in punycode', () => {
  const label = fc.string({ unit: fc.constantFrom(...'aäßñ例子用户жdéçğ'), minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(label, (text) => {
      const ascii = domainToASCII(`${text}.example`);
      fc.pre(ascii !== '');

      expect(inTheBrowser(ascii)).toBe(domainToUnicode(ascii));
    }),
  );
});
