import { signal } from '@preact/signals';

/** The time, for what is shown relative to it. */
export const now = signal(new Date());

const TICK_MILLISECONDS = 1_000;
setInterval(() => {
  if (!document.hidden) now.value = new Date();
}, TICK_MILLISECONDS);
