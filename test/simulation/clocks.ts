/** Machines' clocks differ by so much at most, and an instant is judged by either of two. */
export const CLOCKS_APART_MS = 4_000;
/** How far two machines' clocks are apart at most, and how long an answer takes to be written down. */
export const MARGIN_MS = 10_000;
