import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icons.tsx';

interface EmptyProps {
  icon: IconName;
  /** What there is not, and what to do about it. */
  children: ComponentChildren;
}

/** The content of a list that has none. */
export const Empty = ({ icon, children }: EmptyProps) => (
  <div class="empty">
    <Icon name={icon} />
    {children}
  </div>
);

/** Lines that stand for what is being loaded; screen readers are told so. */
export const Skeleton = ({ lines = 3, isBlock = false }: { lines?: number; isBlock?: boolean }) => (
  <div>
    <p class="unseen">Loading …</p>
    {Array.from({ length: lines }, (_, index) => (
      <div key={index} class={`skeleton${isBlock ? ' block' : ''}`} aria-hidden="true" />
    ))}
  </div>
);
