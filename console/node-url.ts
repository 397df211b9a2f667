const [BASE, LOWEST, HIGHEST, SKEW, DAMP, FIRST_BIAS, FIRST_CODE] = [36, 1, 26, 38, 700, 72, 128] as const;
const DIGITS = 'abcdefghijklmnopqrstuvwxyz0123456789';

const adapted = (delta: number, points: number, isFirst: boolean): number => {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / points);
  let steps = 0;
  for (; rest > ((BASE - LOWEST) * HIGHEST) / 2; steps += BASE) rest = Math.floor(rest / (BASE - LOWEST));
  return steps + Math.floor(((BASE - LOWEST + 1) * rest) / (rest + SKEW));
};

/** A label's punycode, without `xn--`, in Unicode (RFC 3492, 6.2); undefined when it is none. */
const decoded = (code: string): string | undefined => {
  const end = code.lastIndexOf('-');
  const points = [...code.slice(0, Math.max(0, end))].map((character) => character.codePointAt(0) ?? 0);
  let [at, point, bias] = [0, FIRST_CODE as number, FIRST_BIAS as number];
  for (let index = end + 1; index < code.length; ) {
    const before = at;
    let weight = 1;
    for (let step = BASE as number; ; step += BASE) {
      const digit = DIGITS.indexOf(code[index++] ?? ' ');
      if (digit < 0) return undefined;
      at += digit * weight;
      const threshold = Math.min(HIGHEST, Math.max(LOWEST, step - bias));
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    bias = adapted(at - before, points.length + 1, before === 0);
    point += Math.floor(at / (points.length + 1));
    if (point > 0x10ffff) return undefined;
    at %= points.length + 1;
    points.splice(at++, 0, point);
  }
  return String.fromCodePoint(...points);
};

/** Stands for `node:url` in the browser: a domain with its punycode labels in Unicode; empty when one of them is none. */
export const domainToUnicode = (domain: string): string => {
  const labels = domain
    .split('.')
    .map((label) => (label.startsWith('xn--') ? decoded(label.slice(4)) : label));
  return labels.includes(undefined) ? '' : labels.join('.');
};
