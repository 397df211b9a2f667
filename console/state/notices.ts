import { signal } from '@preact/signals';

/** The text of the region that only screen readers tell: changes of state, never polls. */
export const notice = signal('');

/** Tells users of screen readers of a change that they did not cause at this moment. */
export const announce = (text: string): void => {
  notice.value = text;
};

/** A notice for everyone, with a link to the request that it is about. */
export interface Shown {
  text: string;
  href?: string;
}

/** The notice that is shown. */
export const shownNotice = signal<Shown | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;

/** How long a notice is there, unless it is closed. */
const SHOWN_MILLISECONDS = 10_000;

/** Takes the notice away. */
export const closeNotice = (): void => {
  clearTimeout(timer);
  shownNotice.value = undefined;
};

/** Shows a notice in place of the one before. */
export const show = (text: string, href?: string): void => {
  closeNotice();
  shownNotice.value = { text, ...(href !== undefined && { href }) };
  timer = setTimeout(closeNotice, SHOWN_MILLISECONDS);
};
