import type { Directives } from './directives.ts';

/** The answer to a call, one level deeper where `[garbled=…]` says so: JSON that no client of the upstream can read. */
export const garbled = <Answer>(
  answer: Answer,
  operation: NonNullable<Directives['garbled']>,
  directives: Directives,
): Answer | { result: Answer } => (directives.garbled === operation ? { result: answer } : answer);
