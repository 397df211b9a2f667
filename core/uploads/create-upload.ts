import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import type { Account } from '../accounts/accounts.ts';
import { accountLimit, tooManyAtOnce, withSlots } from '../concurrency/in-flight.ts';
import type { WorkAllowance } from '../concurrency/work-allowance.ts';
import { requiredEnv } from '../environment.ts';
import { ServiceError } from '../errors.ts';
import { bucket } from '../files/bucket.ts';
import { fileUrl } from '../files/file-handles.ts';
import { newUploadId } from '../ids.ts';
import { uploadObjectKey } from '../object-keys.ts';
import { addSeconds, systemClock, toInstant } from '../time.ts';
import { ownerOf, UPLOAD_LIFE_SECONDS } from './own-inputs.ts';
import type { UploadAnswer } from './upload-answers.ts';
import { type NewUpload, UPLOAD_TYPES } from './upload-rules.ts';

/** Time for which the form takes a file. It ends earlier when the credentials of the function do. */
const FORM_SECONDS = 15 * 60;

/** Uploads of an account in an hour: 60, and for each creation accepted in the hour as many as one can take. They are stored for nothing. */
const UPLOADS_PER_HOUR = 60;
const UPLOADS_PER_CREATION = 16;
/** Uploads of an account that are signed at once, each in some milliseconds. */
const SLOTS = 10;
const LEASE_SECONDS = 30;

/**
 * A form for one file of exactly this type and size, and the URL that names the file as an input. The URL cannot be fetched.
 * Writes no record: the form is signed. Throws `ServiceError` with `payment_required` for a balance of 0, and with `rate_limited`
 * when the account has used up its uploads of the hour.
 */
export const createUpload = async (
  {
    accountId,
    earnedWork,
    balanceThousandths,
  }: Pick<Account, 'accountId' | 'earnedWork' | 'balanceThousandths'>,
  { contentType, bytes }: NewUpload,
  now: Date,
): Promise<UploadAnswer> => {
  if (balanceThousandths <= 0)
    throw new ServiceError('payment_required', 'An upload needs a balance: files are for creations.');
  const limit = accountLimit('uploads', accountId, {
    slots: SLOTS,
    leaseSeconds: LEASE_SECONDS,
    allowance: uploadAllowance(earnedWork),
  });
  const uploadId = newUploadId(now);
  const objectKey = uploadObjectKey(ownerOf(accountId), uploadId, UPLOAD_TYPES[contentType].extension);
  const expiresAt = addSeconds(toInstant(now), UPLOAD_LIFE_SECONDS);
  const full = () => tooManyAtOnce('Too many uploads are being signed at once.', 1);
  return withSlots([limit], systemClock, full, async () => {
    const upload = await createPresignedPost(bucket(), {
      Bucket: requiredEnv('BUCKET_NAME'),
      Key: objectKey,
      Fields: { 'Content-Type': contentType },
      Conditions: [['content-length-range', bytes, bytes]],
      Expires: FORM_SECONDS,
    });
    return { uploadId, url: fileUrl(objectKey), upload, expiresAt };
  });
};

const uploadAllowance = (earned: Account['earnedWork']): WorkAllowance => ({
  earnedHour: earned?.hour,
  // Every accepted creation raises this number by at least 1.
  most: (hour) => UPLOADS_PER_HOUR + (earned?.hour === hour ? earned.clips * UPLOADS_PER_CREATION : 0),
  isFree: () => true,
  usedUp: 'Too many files were uploaded in this hour.',
});
