import { longestChain } from './measuring-proxy.ts';
import type { Measured } from './service.ts';

/** The cost of one request. */
export interface Row {
  /** Method and path, with the query but without the page. */
  request: string;
  /** For a list: number of records the account has. */
  records?: number;
  /** What the account held or the request contained. */
  situation: string;
  /** For a list: the page number. */
  page?: number;
  calls: number;
  /** Length of the longest chain of calls that do not overlap. */
  sequentialCalls: number;
  /** Number of calls by operation. */
  operations: Record<string, number>;
  readUnits: number;
  writeUnits: number;
}

/** The row of a measured request. Throws unless its status is `status`. */
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
