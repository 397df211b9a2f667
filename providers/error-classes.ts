import type { InputFault, InputReason } from '../core/errors.ts';
import type { Taken } from '../core/provider-calls/providers.ts';
import { codesOf, type ToldError } from './error-bodies.ts';
import { reasonIn } from './input-reasons.ts';

/** The meaning of a provider's error, the same in the answer to a creation, in a task and in a result. */
export type ErrorClass =
  /** The provider refused the content. */
  | 'content'
  /** The request is at fault, by a field or by a file that cannot be had or used. */
  | 'input'
  /** The same, of a file whose server was too slow. */
  | 'slow-input'
  /** Our credential, account, quota or model was refused: the operator must act. */
  | 'access'
  /** A creation was not taken: repeat the same call later. */
  | 'throttled'
  /** A creation was not taken: the provider is full, or our quota there is used up. Repeat the same call once. */
  | 'quota'
  /** The provider itself ran out of time. */
  | 'timeout'
  /** The provider's own error. */
  | 'error';

/** The input that a provider's error is about, as far as its code tells. */
type Place = Pick<InputFault, 'field' | 'file' | 'medium'>;

/** A refused input, as far as known, or `output` for refused content of the model. */
export type Refused = Place | 'output';

/** A row of a provider's table of errors: the first matching row decides. */
export interface ErrorRow {
  codes: RegExp;
  /** A pattern of the message, for a code that stands for several situations. */
  message?: RegExp;
  is: ErrorClass;
  /** Why an input was refused, where the code tells. */
  reason?: InputReason;
  /** The refused input, if the code or the message names it. */
  refused?: Refused | ((message: string) => Refused | undefined);
  /** The statuses from 500 on for which the maker documents that the call was not taken. */
  notTakenAt?: readonly number[];
}

/** A pattern of a provider's name for a place in a request, and the input there by the number in it. */
export type PlaceRow = [name: RegExp, inputOf: (index: number) => Place];

/** A provider's documented errors. */
export interface ProviderErrors {
  rows: readonly ErrorRow[];
  places: readonly PlaceRow[];
  /** The class of an error whose code tells nothing, by HTTP status; the common one unless it differs. */
  classAt?: (status: number) => ErrorClass;
  /** Whether a creation was taken, by HTTP status; the common one unless it differs. */
  takenAt?: (status: number) => Taken;
}

/** The meaning of an error. `input` is the refused input, with the reason. */
export interface Verdict {
  errorClass: ErrorClass;
  input?: InputFault;
  /** Whether content was refused that the model had made. */
  isOfOutput?: true;
  /** Whether the maker documents that a creation answered so was not taken, whatever its status. */
  isNotTaken?: true;
}

/** Codes that no table has, by the words in them. Makers and gateways keep adding codes, and use the same words. */
const SHAPES: readonly ErrorRow[] = [
  {
    codes: /sensitive_?content|content_?policy|policy_?violation|moderation_?(blocked|failed)/i,
    is: 'content',
  },
  { codes: /throttl|rate_?limit|too_?many_?requests|limit_?requests|overload|concurren/i, is: 'throttled' },
  {
    codes:
      /unauthori[sz]ed|not ?authori[sz]ed|authenticat|credential|forbidden|denied|api_?key|arrear|overdue|billing|balance|subscription|purchased|not_?open|account|permission|model_?not|(unknown|invalid)_?model/i,
    is: 'access',
  },
  { codes: /quota/i, is: 'quota' },
  {
    codes:
      /(file|image|video|audio|media|input|url).?(download|fetch)|(download|fetch).?(file|image|video|audio|media)/i,
    is: 'input',
  },
  {
    codes: /^(invalid|missing|unsupported|illegal|malformed)|too_?(large|small|long|short)|not_?supported/i,
    is: 'input',
  },
  { codes: /time_?d?_?out|deadline/i, is: 'timeout' },
  { codes: /^(internal|system|server|downstream|runner)|unavailable/i, is: 'error' },
];

/** The class of an error without a code that tells anything, by HTTP status. Absent: inside a task, which the provider failed. */
const classAt = (status: number): ErrorClass => {
  if (status === 429) return 'throttled';
  if ([401, 402, 403, 404].includes(status)) return 'access';
  // The request is at fault (RFC 9110; 451 is what gateways make of it). Any other 4xx is about the call, which is ours.
  return [400, 413, 414, 415, 422, 451].includes(status) ? 'input' : 'error';
};

/** The input that an error's words place, by a provider's names. */
const placeIn = ({ at = '', message = '' }: ToldError, places: readonly PlaceRow[]): Place => {
  for (const text of [at, message]) {
    for (const [name, inputOf] of places) {
      const found = name.exec(text);
      if (found) return inputOf(Number(found[1] ?? 0));
    }
  }
  return {};
};

/** The row of a table for an error. A content decision counts wherever its code stands, also within the message. */
const rowOf = (error: ToldError, rows: readonly ErrorRow[]): ErrorRow | undefined => {
  const fits = (code: string) => (row: ErrorRow) =>
    row.codes.test(code) && (row.message === undefined || row.message.test(error.message ?? ''));
  const decision = codesOf(error)
    .map((code) => rows.find((row) => row.is === 'content' && fits(code)(row)))
    .find((row) => row !== undefined);
  return decision ?? rows.find(fits(error.code)) ?? SHAPES.find(fits(error.code));
};

/** The class of an error: by the provider's table, else by the words of its code, else by the HTTP status, which a task does not have. */
export const classify = (
  { rows, places, classAt: byStatus = classAt }: ProviderErrors,
  error: ToldError,
  status?: number,
): Verdict => {
  const row = rowOf(error, rows);
  const found = row?.is ?? (status === undefined ? 'error' : byStatus(status));
  const isNotTaken = status !== undefined && row?.notTakenAt?.includes(status) === true;
  const errorClass = classHere(found, status, isNotTaken);
  const verdict = { errorClass, ...(isNotTaken && { isNotTaken }) };
  const place = placeIn(error, places);
  if (errorClass === 'content') return { ...verdict, ...contentOf(refusedBy(row, error), place) };
  if (errorClass !== 'input' && errorClass !== 'slow-input') return verdict;
  return { ...verdict, input: faultOf(row, error, place) };
};

/** The class of an error under its status. A 5xx is throttling only where the maker documents that. Only the quota of a 429 comes back. */
const classHere = (found: ErrorClass, status: number | undefined, isNotTaken: boolean): ErrorClass => {
  const isBusy = found === 'throttled' || found === 'quota';
  if (isBusy && status !== undefined && status >= 500 && !isNotTaken) return 'error';
  return found === 'quota' && status !== 429 ? 'access' : found;
};

const refusedBy = (row: ErrorRow | undefined, { message = '' }: ToldError): Refused | undefined =>
  typeof row?.refused === 'function' ? row.refused(message) : row?.refused;

const contentOf = (refused: Refused | undefined, place: Place): Pick<Verdict, 'input' | 'isOfOutput'> => {
  if (refused === 'output') return { isOfOutput: true };
  if (refused === undefined && Object.keys(place).length === 0) return {};
  return { input: { reason: 'content', ...refused, ...place } };
};

const faultOf = (row: ErrorRow | undefined, error: ToldError, place: Place): InputFault => {
  const { reason: read, medium, status } = reasonIn(error);
  const reason = row?.reason ?? read;
  const refused = refusedBy(row, error);
  return {
    reason,
    ...(status !== undefined && reason === 'unfetched' && { status }),
    ...(medium !== undefined && { medium }),
    ...(refused !== 'output' && refused),
    ...place,
  };
};

/** Whether a provider took a creation call that it answered with an error, by HTTP status. */
export const takenByStatus = (status: number): Taken => {
  if (status < 400) return 'yes';
  return status < 500 && status !== 408 && status !== 499 ? 'no' : 'unknown';
};
