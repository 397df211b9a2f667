import * as z from 'zod/mini';
import { text } from '../fields.ts';

/** Longest email address: the limit of a mailbox path in SMTP (RFC 5321, 4.5.3.1.3) without its brackets. */
export const MAX_EMAIL_LENGTH = 254;

/** One `@`; a local part of up to 64 characters without spaces, quotes or brackets; a dotted domain. Allows Unicode. */
const EMAIL =
  /^[^\s@"(),:;<>[\]\\.\p{C}]+(\.[^\s@"(),:;<>[\]\\.\p{C}]+)*@[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?(\.[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?)+$/u;

/** An email address in the form that identifies an end-user: trimmed and lower-cased. */
export const normalizeEmail = (email: string): string => email.trim().toLowerCase();

/** Whether a normalized address is syntactically an email address of at most 254 characters. */
export const isEmail = (email: string): boolean =>
  email.length <= MAX_EMAIL_LENGTH && EMAIL.test(email) && email.indexOf('@') <= 64;

/** A required email address, normalized. */
export const emailField = () => normalizedEmail(text());

/** An optional email address, normalized. */
export const optionalEmail = () => z.optional(normalizedEmail(z.string({ error: 'must be a string' })));

const normalizedEmail = (given: z.ZodMiniString) =>
  z.pipe(
    z.pipe(given, z.transform(normalizeEmail)),
    z
      .string()
      .check(
        z.refine(isEmail, { error: `must be an email address of at most ${MAX_EMAIL_LENGTH} characters` }),
      ),
  );
