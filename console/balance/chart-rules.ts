/** A balance from an instant on. */
export interface Step {
  at: string;
  xTokens: number;
}

/** The steps of a balance as a path, from the left edge to the right one, the least at the bottom and the most at the top, with room for the line. */
export const stepPath = (steps: readonly Step[], now: Date, width: number, height: number): string => {
  const [first] = steps;
  if (!first) return '';
  const start = Date.parse(first.at);
  const span = Math.max(1, now.getTime() - start);
  const amounts = steps.map(({ xTokens }) => xTokens);
  const [least, most] = [Math.min(...amounts), Math.max(...amounts)];
  const round = (value: number): number => Math.round(value * 10) / 10;
  const x = (at: string): number => round(((Date.parse(at) - start) / span) * width);
  const y = (xTokens: number): number =>
    round(height - 2 - ((xTokens - least) / (most - least || 1)) * (height - 4));
  const lines = steps.slice(1).map(({ at, xTokens }) => `H${x(at)}V${y(xTokens)}`);
  return `M0,${y(first.xTokens)}${lines.join('')}H${width}`;
};
