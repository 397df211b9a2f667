import fc from 'fast-check';

/**
 * Any character but a half surrogate. For its unit `binary`, fast-check would first prepare a table of all of them, which takes most of a
 * second in every file.
 */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));
