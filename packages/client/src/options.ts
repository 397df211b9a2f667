import type { CallOptions } from './http.ts';
import type { GenerationRecord, Usage, VideoRecord } from './types.ts';

/** How a creation is sent. */
export interface CreateOptions extends CallOptions {
  /** Default: a new key for each call, which all its repetitions share. Give one that you have stored to survive a crash of yours. */
  idempotencyKey?: string;
}

/** How to wait for a request. */
export interface WaitOptions extends CallOptions {
  /** Seconds between two reads, about. Default: 5. */
  intervalSeconds?: number;
  /** Default: longer than the service's own deadlines, 75 min for images and 2.5 h for a video. */
  timeoutSeconds?: number;
  /** Called when the status has changed. */
  onStatus?: (record: GenerationRecord | VideoRecord) => void;
}

/** How to create a request and wait for it. */
export interface RunOptions extends CreateOptions, WaitOptions {}

/** Of which days to read the usage, and by what. */
export interface UsageOptions extends CallOptions {
  /** Dates like `2026-11-01`; at most 93 days. */
  from: string;
  to: string;
  by?: Usage['by'];
}

/** Which page of a list to begin with. */
export interface PageOptions extends CallOptions {
  page?: number;
  pageSize?: number;
}

/** How to read records. */
export interface ReadOptions extends CallOptions {
  /** `input` adds what was asked to each record. */
  include?: 'input';
}

/** How to read the models. */
export interface ModelsOptions extends CallOptions {
  /** Adds the limits on input files. */
  include?: 'inputs';
}

/** How to read the balance. */
export interface BalanceOptions extends CallOptions {
  /** Adds whose it is. */
  include?: 'account';
}

/** Which requests of a kind to list. */
export interface RequestListOptions extends PageOptions, ReadOptions {
  endUserEmail?: string;
  status?: GenerationRecord['status'];
  model?: string;
  /** An ISO 8601 date or date-time; only strictly newer ones are listed. */
  createdAfter?: string;
  /** The same; only strictly older ones are listed. */
  createdBefore?: string;
}

/** Which end-users to list. */
export interface EndUserListOptions extends PageOptions {
  /** A part of the address. */
  email?: string;
  blocked?: boolean;
}
