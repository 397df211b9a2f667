import { signal } from '@preact/signals';

/** What the one live region of the page says: changes of state, never polls. */
export const notice = signal('');

/** Tells users of screen readers of a change that they did not cause at this moment. */
export const announce = (text: string): void => {
  notice.value = text;
};
