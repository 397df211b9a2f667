import { effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

const POLL_MILLISECONDS = 5_000;

const isVisible = signal(!document.hidden);
document.addEventListener('visibilitychange', () => {
  isVisible.value = !document.hidden;
});

/** Reads again and again while the page is visible, at once when it becomes so. Returns what ends it. `read` does not reject. */
const whileVisible = (read: () => Promise<void>): (() => void) => {
  let isFirst = true;
  return effect(() => {
    if (!isVisible.value) {
      isFirst = false;
      return;
    }
    let timer: ReturnType<typeof setTimeout>;
    let isOver = false;
    const next = (milliseconds: number): void => {
      if (!isOver) timer = setTimeout(() => read().finally(() => next(POLL_MILLISECONDS)), milliseconds);
    };
    next(isFirst ? POLL_MILLISECONDS : 0);
    isFirst = false;
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  });
};

/** Keeps what a component shows up to date while the page is visible. The component has read it once itself. */
export const useLive = (read: () => Promise<void>, inputs: readonly unknown[] = []): void => {
  useEffect(() => whileVisible(read), [...inputs]);
};
