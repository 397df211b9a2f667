import type { DynamoDbClient } from './client.ts';

type Json = Record<string, unknown>;

/** Copies tables of an engine. */
export interface Copier {
  /** Copies all items, as they are at one moment. */
  copy(from: string, to: string): Promise<void>;
  /** Makes a call of the engine, not while a table is read for a copy. */
  pass<Result>(call: () => Promise<Result>): Promise<Result>;
}

const WRITTEN_AT_ONCE = 25;

/** A copier. All other calls of the engine must go through its `pass`. */
export const createCopier = (engine: DynamoDbClient): Copier => {
  let underWay = 0;
  let reading: Promise<void> | undefined;
  let onIdle: () => void = () => undefined;

  const readAll = async (table: string): Promise<Json[]> => {
    const items: Json[] = [];
    let ExclusiveStartKey: unknown;
    do {
      const page = await engine.call('Scan', { TableName: table, ExclusiveStartKey });
      items.push(...((page.Items ?? []) as Json[]));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    return items;
  };

  /** Runs `work` while no other call is made. */
  const alone = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    while (reading) await reading;
    let done = (): void => undefined;
    reading = new Promise((resolve) => {
      done = () => {
        reading = undefined;
        resolve();
      };
    });
    try {
      if (underWay > 0) {
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
      }
      return await work();
    } finally {
      done();
    }
  };

  return {
    async copy(from, to) {
      const items = await alone(() => readAll(from));
      for (let start = 0; start < items.length; start += WRITTEN_AT_ONCE) {
        const requests = items
          .slice(start, start + WRITTEN_AT_ONCE)
          .map((Item) => ({ PutRequest: { Item } }));
        await engine.call('BatchWriteItem', { RequestItems: { [to]: requests } });
      }
    },
    async pass(call) {
      while (reading) await reading;
      underWay += 1;
      try {
        return await call();
      } finally {
        underWay -= 1;
        if (underWay === 0) onIdle();
      }
    },
  };
};
