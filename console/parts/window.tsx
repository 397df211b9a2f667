import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Rows of a part that is drawn at once. */
const PART_ROWS = 50;
/** How far outside the window a part is drawn already. */
const MARGIN = '1500px 0px';

interface PartsProps<Row> {
  rows: readonly Row[];
  /** The element that holds a part: `ul`, or `tbody`. */
  as: 'ul' | 'tbody';
  class?: string;
  /** The height of a row before one has been drawn, in pixels. */
  rowPixels: number;
  /** The content of a part that is drawn. */
  children: (rows: readonly Row[]) => ComponentChildren;
}

/** Rows of any number, of which only those near the window are drawn: the rest is as high as it was, or will be. */
export const WindowedRows = <Row,>({ rows, ...rest }: PartsProps<Row>) => (
  <>
    {Array.from({ length: Math.ceil(rows.length / PART_ROWS) }, (_, index) => (
      <Part
        key={index}
        isFirst={index === 0}
        rows={rows.slice(index * PART_ROWS, (index + 1) * PART_ROWS)}
        {...rest}
      />
    ))}
  </>
);

interface PartProps<Row> extends PartsProps<Row> {
  /** The first part is drawn at once. */
  isFirst: boolean;
}

const Part = <Row,>({ rows, isFirst, as: Tag, class: name, rowPixels, children }: PartProps<Row>) => {
  const element = useRef<HTMLElement>(null);
  const isNear = useSignal(isFirst);
  const pixels = useRef<number | undefined>(undefined);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1);
        if (!entry) return;
        if (!entry.isIntersecting && isNear.peek()) pixels.current = entry.boundingClientRect.height;
        isNear.value = entry.isIntersecting;
      },
      { rootMargin: MARGIN },
    );
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  const height = pixels.current ?? rows.length * rowPixels;
  const common = { ref: element as never, class: name };
  if (isNear.value) return <Tag {...common}>{children(rows)}</Tag>;
  return (
    <Tag {...common}>
      {Tag === 'tbody' ? (
        <tr>
          <td style={{ height: `${height}px` }} />
        </tr>
      ) : (
        <li class="spacer" style={{ height: `${height}px` }} />
      )}
    </Tag>
  );
};
