import { encodeTime } from 'ulid';

let last = 0;

/** A request id of an instant; a later call gives the greater one of the same instant. */
export const aRequestId = (createdAt: Date, prefix: 'img' | 'vid' = 'img'): string =>
  `${prefix}_${encodeTime(createdAt.getTime(), 10)}${String(++last).padStart(16, '0')}`;
