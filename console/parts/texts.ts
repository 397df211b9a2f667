const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration in its two largest units: `22 h 59 min`, `4.2 s`, `80 ms`. */
export const durationText = (milliseconds: number): string => {
  if (milliseconds < SECOND) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 10 * SECOND) return `${(milliseconds / SECOND).toFixed(1)} s`;
  for (const [unit, smaller, names] of [
    [DAY, HOUR, ['d', 'h']],
    [HOUR, MINUTE, ['h', 'min']],
    [MINUTE, SECOND, ['min', 's']],
  ] as const) {
    if (milliseconds < unit) continue;
    const rest = Math.floor((milliseconds % unit) / smaller);
    return `${Math.floor(milliseconds / unit)} ${names[0]}${rest === 0 ? '' : ` ${rest} ${names[1]}`}`;
  }
  return `${Math.floor(milliseconds / SECOND)} s`;
};

/** An instant in the reader's time zone, by day and second. */
export const instantText = (at: string): string => {
  const time = new Date(at);
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
};

/** An amount of xTokens, with at most three decimals. */
export const xTokensText = (amount: number): string =>
  amount.toLocaleString('en', { maximumFractionDigits: 3 });

/** A count with its noun: `1 request`, `1,024 requests`. */
export const countText = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/** A sentence as it begins: with a capital letter. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The day of an instant in the reader's time zone. */
export const dayText = (at: string): string => instantText(at).slice(0, 10);
