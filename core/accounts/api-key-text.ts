import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { ACCOUNT_ID_PATTERN } from '../ids.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 32 base-62 digits hold 190 bits. */
const SECRET_LENGTH = 32;
const KEY_TEXT = new RegExp(`^gsk_(${ACCOUNT_ID_PATTERN})_([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{6})$`);

/** The parts of a key's text, read without any look-up. */
export interface ParsedKey {
  accountId: string;
  keyId: string;
  /** SHA-256 of the text, in hex. */
  digest: string;
}

/** The parts of a key's text; undefined when its format or checksum is wrong. */
export const parseKey = (key: string): ParsedKey | undefined => {
  const accountId = KEY_TEXT.exec(key)?.[1];
  if (accountId === undefined || checksum(key.slice(0, -6)) !== key.slice(-6)) return undefined;
  return partsOf(accountId, key);
};

/** The text of a new random key of an account, with its parts. */
export const newKey = (accountId: string): { text: string; parsed: ParsedKey } => {
  const secret = Array.from({ length: SECRET_LENGTH }, () => BASE62.charAt(randomInt(62))).join('');
  const body = `gsk_${accountId}_${secret}`;
  const text = body + checksum(body);
  return { text, parsed: partsOf(accountId, text) };
};

/** The key id is 128 bits of the digest: computable from the key, but not the other way round. */
const partsOf = (accountId: string, text: string): ParsedKey => {
  const digest = hash('sha256', text);
  return { accountId, keyId: `key_${digest.slice(0, 32)}`, digest };
};

/** The CRC-32 of the text before it, in six base-62 digits: a mistyped key costs no look-up. */
const checksum = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < 6; place++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
};
