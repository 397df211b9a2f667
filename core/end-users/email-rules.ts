import { domainToUnicode } from 'node:url';
import * as z from 'zod/mini';
import { text } from '../fields.ts';

/** Longest email address: the limit of a mailbox path in SMTP (RFC 5321, 4.5.3.1.3) without its brackets. */
export const MAX_EMAIL_LENGTH = 254;

/** One `@`; a local part of up to 64 characters without spaces, quotes or brackets; a dotted domain. Allows Unicode. */
const EMAIL =
  /^[^\s@"(),:;<>[\]\\.\p{C}]+(\.[^\s@"(),:;<>[\]\\.\p{C}]+)*@[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?(\.[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?)+$/u;

/** Characters that are not seen, as Unicode says (default-ignorable code points): two addresses would look alike. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/** No longer text is normalized, which may make it 18 times as long. Far above any address with spaces around it. */
const MAX_GIVEN_LENGTH = 2_000;

/**
 * The normal form of an email address, which identifies an end-user. Trimmed, in lower case and compatibility form (NFKC):
 * full-width and combining spellings are equal. The domain is in Unicode, not punycode. Text too long for an address is returned
 * unchanged.
 */
export const normalizeEmail = (email: string): string =>
  email.length > MAX_GIVEN_LENGTH ? email : withUnicodeDomain(foldEmailPart(email).trim());

/** A label that DNS spells in ASCII. */
const PUNYCODE_LABEL = /(?<![^.@])xn--/;

/**
 * Characters that no domain has. The conversion of a domain to Unicode would drop or decode the character, or take it for the
 * domain's end.
 */
const NOT_IN_DOMAINS = /[^\p{L}\p{N}\p{M}.-]|\p{Default_Ignorable_Code_Point}/u;

/** The address with the labels of its domain as people read them. One that no domain can have stays, and is refused by `isEmail`. */
const withUnicodeDomain = (email: string): string => {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1);
  if (at < 0 || !PUNYCODE_LABEL.test(domain) || NOT_IN_DOMAINS.test(domain)) return email;
  const unicode = domainToUnicode(domain);
  return unicode === '' ? email : `${email.slice(0, at)}@${foldEmailPart(unicode)}`;
};

/** A part of an address as normalized addresses spell it; not trimmed. Lower-casing can undo the normal form, hence twice. */
export const foldEmailPart = (part: string): string => part.normalize('NFKC').toLowerCase().normalize('NFKC');

/** Whether a normalized address is syntactically an email address of at most 254 characters, all of them visible. */
export const isEmail = (email: string): boolean =>
  email.length <= MAX_EMAIL_LENGTH &&
  email.indexOf('@') <= 64 &&
  !INVISIBLE.test(email) &&
  EMAIL.test(email) &&
  !PUNYCODE_LABEL.test(email.slice(email.indexOf('@')));

/** A required email address, normalized. */
export const emailField = () => normalizedEmail(text());

/** An optional email address, of text that may be prepared before, normalized. */
export const optionalEmail = (given = z.string({ error: 'must be a string' })) =>
  z.optional(normalizedEmail(given));

const normalizedEmail = (given: z.ZodMiniString) =>
  z.pipe(
    z.pipe(given, z.transform(normalizeEmail)),
    z
      .string()
      .check(
        z.refine(isEmail, { error: `must be an email address of at most ${MAX_EMAIL_LENGTH} characters` }),
      ),
  );
