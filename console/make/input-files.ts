import { NotFoundError } from '../../packages/client/src/index.ts';
import type { Model } from '../../packages/client/src/types.ts';
import { now } from '../state/clock.ts';
import { type Output, outputsOf, statusAt } from '../state/record-rules.ts';
import { readOne, recordOf } from '../state/records.ts';
import { requestOfOutput, uploadExpiry, withoutQuery } from './file-rules.ts';
import { type FormValues, fieldsOf } from './form-rules.ts';

/** Requests that are read for their outputs, by id: being read, found or missing. */
const asked = new Map<string, 'reading' | 'found' | 'missing'>();

/** The output that the URL of an input names, with its signed URL, once its request has been read. Undefined for other URLs. */
export const outputNamed = (url: string): Output | undefined => {
  const record = recordNamed(url);
  return (
    record && outputsOf(record).find((output) => output.url && withoutQuery(output.url) === withoutQuery(url))
  );
};

const recordNamed = (url: string) => {
  const requestId = requestOfOutput(url);
  if (requestId === undefined) return undefined;
  if (!recordOf(requestId) && !asked.has(requestId)) {
    asked.set(requestId, 'reading');
    readOne(requestId).then(
      (isThere) => asked.set(requestId, isThere ? 'found' : 'missing'),
      (error: unknown) => {
        // Without the record there is no picture of the file, and the service judges it when it is sent.
        if (error instanceof NotFoundError) asked.set(requestId, 'missing');
      },
    );
  }
  return recordOf(requestId);
};

const AGAIN = 'give the file again';

/** Why a file of this service cannot be used any more. Undefined for usable files and for URLs of other hosts. */
const goneProblem = (url: string): string | undefined => {
  const expiry = uploadExpiry(url);
  if (expiry) return expiry <= now.peek() ? `is an upload that has expired: ${AGAIN}` : undefined;
  const record = recordNamed(url);
  if (!record)
    return asked.get(requestOfOutput(url) ?? '') === 'missing'
      ? `is not there any more: ${AGAIN}`
      : undefined;
  return statusAt(record, now.peek()) === 'expired' ? `is an output that has expired: ${AGAIN}` : undefined;
};

/** What is wrong with the files that a form names, by path, as far as the page can tell. */
export const fileMessages = (model: Model, values: FormValues): Record<string, string> => {
  const entries = fieldsOf(model).flatMap(({ path, control }) => {
    if (control !== 'file' && control !== 'files') return [];
    const urls = (values[path] ?? '').split('\n');
    return urls.map(
      (url, index) => [control === 'file' ? path : `${path}[${index}]`, goneProblem(url)] as const,
    );
  });
  return Object.fromEntries(entries.flatMap(([path, text]) => (text === undefined ? [] : [[path, text]])));
};
