import { effect, signal } from '@preact/signals';

/** The colors of the console: as the system has them, or always these. */
export const THEMES = ['auto', 'light', 'dark'] as const;
/** One of them. */
export type Theme = (typeof THEMES)[number];

const STORED = 'theme';
const stored = localStorage.getItem(STORED);

/** The theme in use, kept in this browser. */
export const theme = signal<Theme>(THEMES.find((one) => one === stored) ?? 'auto');
effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(STORED, theme.value);
});
