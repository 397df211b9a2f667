/** A figure and its budget. */
export interface Result {
  name: string;
  value: number;
  unit: string;
  /** The most that it may be, or the least where `atLeast` was said; absent for a figure without one. */
  budget: number | null;
  /** Whether it is within its budget. */
  ok: boolean;
}

/** The figures of one part, with what the reader has to know about them. */
export interface Part {
  title: string;
  /** Markdown. */
  note: string;
  results: Result[];
}

/** What a figure is held to. */
export interface Expected {
  budget?: number;
  /** Whether the budget is the least rather than the most. */
  atLeast?: boolean;
}

const DIGITS = 1_000;

/** A figure, rounded to thousandths, and whether it keeps its budget. */
export const resultOf = (
  name: string,
  value: number,
  unit: string,
  { budget, atLeast = false }: Expected = {},
): Result => ({
  name,
  value: Math.round(value * DIGITS) / DIGITS,
  unit,
  budget: budget ?? null,
  ok: budget === undefined || (atLeast ? value >= budget : value <= budget),
});
