import {
  LISTING_ATTRIBUTES,
  LISTING_INDEX,
  REQUEST_INDEX_ATTRIBUTES,
  REQUEST_INDEXES,
} from '../../core/table/keys.ts';

type Item = Record<string, unknown>;

/** Bytes of a write unit, and of a read unit. */
const WRITE_UNIT_BYTES = 1_024;
const READ_UNIT_BYTES = 4_096;
/** A transaction prepares and commits each of its items. */
const TRANSACTION_FACTOR = 2;

/** The indexes: by which attributes an item is in one, and what of it is there besides. */
const INDEXES = [
  { keys: [LISTING_INDEX.partition, LISTING_INDEX.sort], shown: LISTING_ATTRIBUTES },
  ...Object.values(REQUEST_INDEXES).map(({ partition }) => ({
    keys: [partition],
    shown: REQUEST_INDEX_ATTRIBUTES,
  })),
];

/** The size of a value by DynamoDB's rules: text by its bytes, a number by its digits, 3 bytes for a map or list. */
const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(String(Math.abs(value)).length / 2) + 1;
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + 1 + sizeOf(each), 3);
  if (value !== null && typeof value === 'object')
    return Object.entries(value).reduce(
      (sum, [name, each]) => sum + Buffer.byteLength(name) + 1 + sizeOf(each),
      3,
    );
  return 1;
};

/** The size of an item in bytes: its attributes' names and values. */
export const itemBytes = (item: Item | undefined): number =>
  Object.entries(item ?? {}).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + sizeOf(value), 0);

const unitsOf = (bytes: number, unitBytes: number): number => Math.max(1, Math.ceil(bytes / unitBytes));

const textOf = (item: Item | undefined, names: readonly string[]): string | undefined =>
  names.every((name) => item?.[name] !== undefined)
    ? JSON.stringify(names.map((name) => item?.[name]))
    : undefined;

/** Write units of the indexes: an entry is written when it is new, changed or removed, and both when its key changes. */
const indexUnits = (before: Item | undefined, after: Item | undefined): number =>
  INDEXES.reduce((sum, { keys, shown }) => {
    const [from, to] = [textOf(before, keys), textOf(after, keys)];
    if (from !== to) return sum + (from === undefined ? 0 : 1) + (to === undefined ? 0 : 1);
    const isChanged = shown.some((name) => before?.[name] !== after?.[name]);
    return sum + (to !== undefined && isChanged ? 1 : 0);
  }, 0);

/** The write units of a change of an item, its indexes included. */
export const writeUnits = (
  before: Item | undefined,
  after: Item | undefined,
  isTransaction: boolean,
): number =>
  unitsOf(Math.max(itemBytes(before), itemBytes(after)), WRITE_UNIT_BYTES) *
    (isTransaction ? TRANSACTION_FACTOR : 1) +
  indexUnits(before, after);

/** The read units of so many bytes: half when the read may be behind. */
export const readUnits = (bytes: number, isConsistent: boolean): number =>
  unitsOf(bytes, READ_UNIT_BYTES) * (isConsistent ? 1 : 0.5);
