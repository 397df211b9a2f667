import { signal } from '@preact/signals';
import { selectedAfter } from './selection-rules.ts';

/** The requests that are selected, in a list of any kind. */
export const selection = signal<ReadonlySet<string>>(new Set());
/** Where a range begins that is selected with Shift. */
let anchor: string | undefined;

/** Selects a request or takes it out, or with Shift a range of the list as it is shown. */
export const select = (requestId: string, isRange: boolean, shown: readonly string[]): void => {
  selection.value = selectedAfter(selection.peek(), {
    requestId,
    anchor: isRange ? anchor : undefined,
    shown,
  });
  anchor = requestId;
};

/** Selects exactly these. */
export const selectOnly = (requestIds: readonly string[]): void => {
  selection.value = new Set(requestIds);
  anchor = undefined;
};
