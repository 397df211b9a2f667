import { type AnyRecord, type Status, statusAt } from '../state/record-rules.ts';

/** What requests can be sorted by. */
export const SORT_KEYS = ['time', 'model', 'user', 'status', 'seconds', 'cost'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** An order of requests. */
export interface Sort {
  key: SortKey;
  isDescending: boolean;
}

/** The order in an address: `cost`, or `-cost` for the highest first. Others: the newest first. */
export const readSort = (text: string): Sort => {
  const key = SORT_KEYS.find((one) => one === text.replace(/^-/, ''));
  return key ? { key, isDescending: text.startsWith('-') } : { key: 'time', isDescending: true };
};

/** The order after a click on a column: the other direction of the same one, else its most useful direction. */
export const sortAfter = ({ key, isDescending }: Sort, clicked: SortKey): string => {
  const isNumber = clicked === 'time' || clicked === 'seconds' || clicked === 'cost';
  const descends = key === clicked ? !isDescending : isNumber;
  return `${descends ? '-' : ''}${clicked}`;
};

/** The seconds from creation to end; undefined while a request is unfinished. */
export const secondsOf = (record: AnyRecord): number | undefined =>
  'finishedAt' in record ? (Date.parse(record.finishedAt) - Date.parse(record.createdAt)) / 1_000 : undefined;

/** The cost in xTokens, nothing for a failed request, which is refunded; undefined while a request is unfinished. */
export const costOfRecord = (record: AnyRecord): number | undefined => {
  if (record.status === 'failed') return 0;
  return 'cost' in record ? record.cost : undefined;
};

const sortValue = (record: AnyRecord, key: SortKey, now: Date): string | number | undefined => {
  const values: Record<SortKey, () => string | number | undefined | Status> = {
    time: () => record.createdAt,
    model: () => record.model,
    user: () => record.endUserEmail,
    status: () => statusAt(record, now),
    seconds: () => secondsOf(record),
    cost: () => costOfRecord(record),
  };
  return values[key]();
};

/** Requests in this order. Requests without a value come last in both directions; equal values keep their order. */
export const sorted = (records: readonly AnyRecord[], { key, isDescending }: Sort, now: Date): AnyRecord[] =>
  records
    .map((record) => ({ record, value: sortValue(record, key, now) }))
    .sort((one, other) => {
      if (one.value === other.value) return 0;
      if (one.value === undefined) return 1;
      if (other.value === undefined) return -1;
      return one.value < other.value === isDescending ? 1 : -1;
    })
    .map(({ record }) => record);
