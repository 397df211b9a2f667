/** Machines' clocks differ by so much at most, and an instant is judged by either of two. */
export const CLOCKS_APART_MS = 4_000;
/** How far two machines' clocks are apart at most, and how long an answer takes to be written down. */
export const MARGIN_MS = 10_000;
/** How long after its first call a request fails, as deployed. */
export const deadlineMs = (kind: 'image' | 'video'): number => (kind === 'image' ? 600_000 : 3_600_000);
