/**
 * Runs `work` with each item, at most `limit` at a time, in the order of the items. Takes the next item only when `work` is free for it.
 * After an error it takes no further item and rejects with that error once the others under way have ended.
 */
export const inParallel = async <Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  const queue = (async function* () {
    yield* items;
  })();
  const worker = async (): Promise<void> => {
    // Leaving the loop by an error closes the queue, which ends the other workers' loops.
    for await (const item of queue) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: limit }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
};

/**
 * The results of works under way, in their order, once all have ended. Rejects with the first error only after the last end, so
 * that no write is under way when Lambda freezes the process.
 */
export const allEnded = async <Result>(works: Iterable<Promise<Result>>): Promise<Result[]> => {
  const ends = await Promise.allSettled(works);
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
};
