import { encodeTime } from 'ulid';

let last = 0;

/** A request id with this creation time; ids of the same time sort in the order they were made. */
export const aRequestId = (createdAt: Date, prefix: 'img' | 'vid' = 'img'): string =>
  `${prefix}_${encodeTime(createdAt.getTime(), 10)}${String(++last).padStart(16, '0')}`;
