interface Click {
  requestId: string;
  /** The other end of a range. Undefined: a single request was clicked. */
  anchor: string | undefined;
  /** The list as it is shown. */
  shown: readonly string[];
}

/** The selection after a click. A range is added; a single request is added, or taken out where it was selected. */
export const selectedAfter = (
  selected: ReadonlySet<string>,
  { requestId, anchor, shown }: Click,
): ReadonlySet<string> => {
  const [from, to] = [shown.indexOf(anchor ?? ''), shown.indexOf(requestId)].toSorted((a, b) => a - b);
  if (anchor !== undefined && from !== undefined && to !== undefined && from >= 0) {
    return new Set([...selected, ...shown.slice(from, to + 1)]);
  }
  const after = new Set(selected);
  if (!after.delete(requestId)) after.add(requestId);
  return after;
};
