import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { now } from '../state/clock.ts';
import { announce } from '../state/notices.ts';
import type { Status } from '../state/record-rules.ts';
import { durationText, instantText } from './texts.ts';

/** The heading of a page. It takes the focus when the page is opened, and names the document where `title` does not. */
export const Heading = ({ children, title = children }: { children: string; title?: string }) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Generation service`;
  }, [title]);
  useEffect(() => {
    // Not on the first page: a document that loads begins at its top.
    if (hasNavigated.value) heading.current?.focus();
    hasNavigated.value = true;
  }, [children]);
  return (
    <h1 tabIndex={-1} ref={heading}>
      {children}
    </h1>
  );
};
const hasNavigated = signal(false);

const STATUS_WORDS: Record<Status, string> = {
  queued: 'queued',
  processing: 'processing',
  succeeded: 'succeeded',
  failed: 'failed',
  expired: 'expired',
};

/** The status of a request, in words. */
export const StatusBadge = ({ status }: { status: Status }) => (
  <span class={`badge ${status}`}>{STATUS_WORDS[status] ?? status}</span>
);

/** An instant, in the reader's time zone, with the exact one behind it. */
export const Time = ({ at }: { at: string }) => (
  <time dateTime={at} title={at}>
    {instantText(at)}
  </time>
);

/** How long something has still to live, or that its time is over. */
export const TimeLeft = ({ until }: { until: string }) => {
  const milliseconds = Date.parse(until) - now.value.getTime();
  return (
    <time dateTime={until} title={until}>
      {milliseconds > 0 ? `expires in ${durationText(milliseconds)}` : 'expired'}
    </time>
  );
};

/** A button that copies text, and says that it did. */
export const CopyButton = ({ text, label }: { text: string; label: string }) => {
  const isCopied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    isCopied.value = true;
    announce(`${label}: copied.`);
    setTimeout(() => {
      isCopied.value = false;
    }, 2_000);
  };
  return (
    <button type="button" class="quiet" onClick={copy} aria-label={label}>
      {isCopied.value ? 'Copied' : 'Copy'}
    </button>
  );
};

/** A choice among names, with `any` for none of them. */
export const Choice = ({ label, value, options, onValue }: ChoiceProps) => (
  <label>
    {label}{' '}
    <select value={value} onInput={(event) => onValue(event.currentTarget.value)}>
      <option value="">any</option>
      {options.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  </label>
);

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly string[];
  onValue: (value: string) => void;
}

/** An error in one sentence. Renders nothing without one. */
export const Problem = ({ text }: { text: string | undefined }) =>
  text === undefined ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  );

/** Content that scrolls sideways on a narrow screen, by keyboard too. */
export const ScrollFrame = ({ name, children }: { name: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
  <section class="scrolls" aria-label={name} tabIndex={0}>
    {children}
  </section>
);

/** A mark beside what went on, for the eye only: words say the same. */
export const StatusDot = ({ outcome, isOpen }: { outcome: string | undefined; isOpen: boolean }) => (
  <span
    class={`dot ${isOpen ? 'open' : outcome !== undefined && /fail|lost|error|refused/.test(outcome) ? 'failed' : ''}`}
    aria-hidden="true"
  />
);
