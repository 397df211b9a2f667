import { signal } from '@preact/signals';

/** Why the operator's endpoint does not answer, in words; undefined while it does. */
export const lostConnection = signal<string | undefined>(undefined);

/** Seconds between two tries to reach the endpoint again. */
const PAUSE_MILLISECONDS = 3_000;

/** Records that the endpoint does not answer, and asks `isBack` again and again until it does. */
export const loseConnection = (why: string, isBack: () => Promise<boolean>): void => {
  const isKnown = lostConnection.peek() !== undefined;
  lostConnection.value = why;
  if (isKnown) return;
  const tryAgain = async (): Promise<void> => {
    if (await isBack()) lostConnection.value = undefined;
    else setTimeout(tryAgain, PAUSE_MILLISECONDS);
  };
  setTimeout(tryAgain, PAUSE_MILLISECONDS);
};
