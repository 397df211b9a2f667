import type { AnyRecord } from '../state/record-rules.ts';

/** Which requests the service is asked for. Empty text asks for all. */
export interface RequestQuery {
  type: string;
  status: string;
  model: string;
  endUserEmail: string;
  /** ISO 8601 instants: strictly newer, and strictly older. */
  createdAfter: string;
  createdBefore: string;
}

/** The filters of the list, as its address has them. Empty: any. */
export interface Filters {
  text: string;
  status: string;
  type: string;
  model: string;
  /** An end-user's address, or a part of one. */
  user: string;
  /** Days in the reader's time zone, `2026-11-22`, both included. */
  from: string;
  to: string;
}

/** The meaning of a search text. An id is read, an address is asked for; other text is looked for in what has been read. */
export type SearchText =
  | { kind: 'none' }
  | { kind: 'id'; requestId: string }
  | { kind: 'endUser'; email: string }
  | { kind: 'text'; text: string };

/** Tells what a search text is. */
export const readSearchText = (given: string): SearchText => {
  const text = given.trim();
  if (text === '') return { kind: 'none' };
  const id = /^(img|vid)_([0-9A-Za-z]{26})$/i.exec(text);
  if (id) return { kind: 'id', requestId: `${id[1]?.toLowerCase()}_${id[2]?.toUpperCase()}` };
  if (isAddress(text)) return { kind: 'endUser', email: text };
  return { kind: 'text', text };
};

const isAddress = (text: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/.test(text);

/** The beginning of a day in the reader's time zone, `later` days on. Undefined for what is no day. */
const dayStart = (day: string, later = 0): number | undefined => {
  const [year, month, date] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []).slice(1).map(Number);
  if (year === undefined || month === undefined || date === undefined) return undefined;
  return new Date(year, month - 1, date + later).getTime();
};

/** What the service is asked for. `typeOfModel` tells the kind of a model's requests. */
export const queryOf = (
  filters: Filters,
  typeOfModel: (model: string) => string | undefined,
): RequestQuery => {
  const search = readSearchText(filters.text);
  const [from, until] = [dayStart(filters.from), dayStart(filters.to, 1)];
  return {
    type: filters.model === '' ? filters.type : (typeOfModel(filters.model) ?? filters.type),
    status: filters.status,
    model: filters.model,
    endUserEmail: [search.kind === 'endUser' ? search.email : '', filters.user.trim()].find(isAddress) ?? '',
    // Both bounds are exclusive.
    createdAfter: from === undefined ? '' : new Date(from - 1).toISOString(),
    createdBefore: until === undefined ? '' : new Date(until).toISOString(),
  };
};

/** Whether a record holds a text in what people see of it. */
export const holdsText = (record: AnyRecord, text: string): boolean => {
  const looked = text.toLowerCase();
  return [record.prompt, record.model, record.endUserEmail, record.requestId].some((part) =>
    part.toLowerCase().includes(looked),
  );
};

/** Whether a record that was read is among those that are asked for: by what the service does not search for. */
export const isAskedFor = (record: AnyRecord, { text, user }: Pick<Filters, 'text' | 'user'>): boolean => {
  const search = readSearchText(text);
  const isOfUser = record.endUserEmail.toLowerCase().includes(user.trim().toLowerCase());
  return isOfUser && (search.kind !== 'text' || holdsText(record, search.text));
};
