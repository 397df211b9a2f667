/** How it goes on with an unfinished request, as it looks now. Null: not known. */
export interface Outlook {
  /** The thing that the request waits for, in words. */
  waitsFor: string;
  /** Its position among the requests that queue at its route, from 1, and their number. */
  position: number | null;
  queued: number | null;
  /** Seconds until it ends, by the route's recent requests of its account. 0: it has taken longer than those. */
  aboutSeconds: number | null;
}
