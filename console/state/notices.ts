import { signal } from '@preact/signals';

/** The text of the page's only live region: changes of state, never polls. */
export const notice = signal('');

/** Tells users of screen readers of a change that they did not cause at this moment. */
export const announce = (text: string): void => {
  notice.value = text;
};
