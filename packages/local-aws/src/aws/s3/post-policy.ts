import { createHmac, timingSafeEqual } from 'node:crypto';
import { AwsError } from '../errors.ts';

/** The text fields of a form upload, by their names in lower case. */
export type FormFields = ReadonlyMap<string, string>;

/** What the policy of a form upload allows, once its fields meet it. */
export interface PostPolicy {
  /** The sizes that the file may have, in bytes. */
  minBytes: number;
  maxBytes: number;
}

const MAX_FILE_BYTES = 5 * 1024 ** 3;

const invalid = (message: string) =>
  new AwsError('AccessDenied', `Invalid according to Policy: ${message}`, 403);
const malformed = (message: string) =>
  new AwsError('InvalidPolicyDocument', `Invalid Policy: ${message}`, 400);

/** The value of a field that every form upload has. */
export const requiredField = (fields: FormFields, name: string): string => {
  const value = fields.get(name.toLowerCase());
  if (value === undefined) {
    throw new AwsError('InvalidArgument', `Bucket POST must contain a field named '${name}'.`, 400);
  }
  return value;
};

/**
 * Checks the signature (Signature Version 4) of a form's policy. Throws `SignatureDoesNotMatch`.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-authentication-HTTPPOST.html
 */
export const checkSignature = (fields: FormFields, secretAccessKey: string): void => {
  const [, date = '', region = '', service = '', terminator = ''] = requiredField(
    fields,
    'X-Amz-Credential',
  ).split('/');
  const key = [date, region, service, terminator].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${secretAccessKey}`,
  );
  const expected = createHmac('sha256', key).update(requiredField(fields, 'policy')).digest();
  const given = Buffer.from(requiredField(fields, 'X-Amz-Signature'), 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    const message =
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.';
    throw new AwsError('SignatureDoesNotMatch', message, 403);
  }
};

/** Fields that a policy need not name. */
const isExempt = (name: string): boolean =>
  ['x-amz-signature', 'policy', 'file'].includes(name) || name.startsWith('x-ignore-');

/**
 * Checks the fields of a form by the form's policy: every field needs a condition that it meets. Throws S3's errors:
 * the policy has expired, a condition fails, a field has no condition, or the policy cannot be read.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html
 */
export const checkPolicy = (fields: FormFields, bucket: string, now: Date): PostPolicy => {
  const { expiration, conditions } = readPolicy(requiredField(fields, 'policy'));
  if (!(Date.parse(expiration) > now.getTime())) throw invalid('Policy expired.');
  const allowed: PostPolicy = { minBytes: 0, maxBytes: MAX_FILE_BYTES };
  const covered = new Set<string>();
  for (const condition of conditions) {
    const [operator, of, value] = Array.isArray(condition)
      ? condition
      : ['eq', `$${Object.keys(condition)[0]}`, Object.values(condition)[0]];
    if (operator === 'content-length-range') {
      Object.assign(allowed, { minBytes: Number(of), maxBytes: Number(value) });
      continue;
    }
    const name = String(of).replace(/^\$/, '').toLowerCase();
    const given = name === 'bucket' ? bucket : (fields.get(name) ?? '');
    const isMet =
      operator === 'eq'
        ? given === String(value)
        : operator === 'starts-with' && given.startsWith(String(value));
    if (!isMet) throw invalid(`Policy Condition failed: ${JSON.stringify([operator, `$${name}`, value])}`);
    covered.add(name);
  }
  const extra = [...fields.keys()].filter((name) => !covered.has(name) && !isExempt(name));
  if (extra.length > 0) throw invalid(`Extra input fields: ${extra.join(', ')}`);
  return allowed;
};

const readPolicy = (
  text: string,
): { expiration: string; conditions: (Record<string, unknown> | unknown[])[] } => {
  let policy: unknown;
  try {
    policy = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    throw malformed('Invalid JSON.');
  }
  const { expiration, conditions } = (policy ?? {}) as Record<string, unknown>;
  if (typeof expiration !== 'string') throw malformed('Policy missing expiration.');
  if (!Array.isArray(conditions)) throw malformed('Policy missing conditions.');
  return { expiration, conditions };
};
