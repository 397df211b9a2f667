import type { FormField } from './form-rules.ts';

/** What every field of the form is given. */
export interface FieldProps {
  field: FormField;
  value: string;
  /** The messages that are shown now, by path. */
  messages: Readonly<Record<string, string>>;
  onValue: (value: string) => void;
  /** Called when the reader leaves the field. */
  onLeave: () => void;
}

/** The id of a field's control, or of the control of one of its entries, counted from 1. */
export const fieldId = (path: string, place?: number): string =>
  `field-${path.replace('.', '-')}${place === undefined ? '' : `-${place}`}`;
