import { longestChain } from './measuring-proxy.ts';
import type { Measured } from './service.ts';

/** What one request cost. Kept in `bench/calls.json`. */
export interface Row {
  /** Method and path, with the query but for the page. */
  request: string;
  /** Of a list: how many of its kind the account holds. */
  records?: number;
  /** What else there is to know of what was there, or was sent. */
  situation: string;
  /** Of a list: which page. */
  page?: number;
  calls: number;
  /** The most calls that came one after another. */
  sequentialCalls: number;
  /** How many calls of each kind. */
  operations: Record<string, number>;
  readUnits: number;
  writeUnits: number;
  /** Of a list: the read units as a multiple of the first page's. */
  timesFirstPage?: number;
}

/** The row of a request that was measured. Throws unless it was answered with `status`. */
export const rowOf = (
  measured: Measured,
  about: Pick<Row, 'request' | 'records' | 'situation' | 'page'>,
  status = 200,
): Row => {
  if (measured.status !== status) {
    const { request, situation, page = '-' } = about;
    const answer = `${measured.status} ${JSON.stringify(measured.body)}`;
    throw new Error(`${request}, ${situation}, page ${page}: ${answer}`);
  }
  const { calls } = measured;
  return {
    ...about,
    calls: calls.length,
    sequentialCalls: longestChain(calls),
    operations: Object.fromEntries(
      [...Map.groupBy(calls, ({ operation }) => operation)]
        .map(([operation, same]) => [operation, same.length] as const)
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ),
    readUnits: calls.reduce((sum, { readUnits }) => sum + readUnits, 0),
    writeUnits: calls.reduce((sum, { writeUnits }) => sum + writeUnits, 0),
  };
};
