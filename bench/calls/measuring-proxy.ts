import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** One call to the table. */
export interface TableCall {
  /** The operation, and the index if any: `Query GSI2`. */
  operation: string;
  /** When the request arrived, in milliseconds of `performance.now()`. */
  startedAt: number;
  /** When the response was sent, on the same clock. */
  endedAt: number;
  readUnits: number;
  writeUnits: number;
}

/** A proxy in front of a DynamoDB engine that records calls. */
export interface MeasuringProxy {
  /** The value for `DYNAMODB_ENDPOINT`. */
  url: string;
  /** Runs `work` and returns the calls made during it, in order of arrival. Not for concurrent use. */
  measure<T>(work: () => Promise<T>): Promise<{ result: T; calls: TableCall[] }>;
  close(): Promise<void>;
}

/**
 * Delay of the response to a measured call. It makes concurrent calls overlap, so calls that do not overlap are
 * sequential.
 */
const HOLD_MILLISECONDS = 15;

const READS = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan', 'TransactGetItems']);
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems']);

/** Starts a proxy for the engine at `engineUrl`, on loopback. */
export const startMeasuringProxy = async (engineUrl: string): Promise<MeasuringProxy> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  let recorded: TableCall[] | undefined;

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const operation = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
    const input = JSON.parse((await readAll(incoming)).toString('utf8'));
    const calls = recorded;
    const startedAt = performance.now();
    const isMeasured = READS.has(operation) || WRITES.has(operation);
    const body = isMeasured ? { ...input, ReturnConsumedCapacity: 'TOTAL' } : input;
    const answer = await forward(engineUrl, agent, incoming, JSON.stringify(body));
    if (calls && isMeasured) {
      const units = unitsOf(JSON.parse(answer.body.toString('utf8')).ConsumedCapacity);
      const call = {
        operation: input.IndexName === undefined ? operation : `${operation} ${input.IndexName}`,
        startedAt,
        endedAt: Number.POSITIVE_INFINITY,
        readUnits: READS.has(operation) ? units : 0,
        writeUnits: READS.has(operation) ? 0 : units,
      };
      calls.push(call);
      await sleep(HOLD_MILLISECONDS);
      call.endedAt = performance.now();
    }
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
  };

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error) => response.destroy(error));
  });
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async measure(work) {
      const calls: TableCall[] = [];
      recorded = calls;
      try {
        const result = await work();
        return { result, calls: calls.toSorted((a, b) => a.startedAt - b.startedAt) };
      } finally {
        recorded = undefined;
      }
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
};

/** Length of the longest chain of calls in which each starts after the previous one has ended. */
export const longestChain = (calls: readonly TableCall[]): number => {
  let length = 0;
  let endedAt = Number.NEGATIVE_INFINITY;
  // Greedy by end time gives the maximum.
  for (const call of calls.toSorted((a, b) => a.endedAt - b.endedAt)) {
    if (call.startedAt < endedAt) continue;
    length += 1;
    endedAt = call.endedAt;
  }
  return length;
};

/** `consumed` is an object, a list for a batch, or absent for a failed call. */
const unitsOf = (consumed: Consumed | Consumed[] = []): number =>
  [consumed].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);

const readAll = async (stream: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
};

interface Consumed {
  CapacityUnits: number;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

const forward = (engineUrl: string, agent: Agent, incoming: IncomingMessage, body: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const bytes = Buffer.from(body);
    const { host: _host, connection: _connection, ...headers } = incoming.headers;
    const call = request(engineUrl, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': bytes.length },
    });
    call.on('error', reject);
    call.on('response', (answer) => {
      readAll(answer).then((answered) => {
        const passed = ['content-type', 'x-amzn-requestid', 'x-amz-crc32'].flatMap((name) => {
          const value = answer.headers[name];
          return typeof value === 'string' ? [[name, value]] : [];
        });
        resolve({
          status: answer.statusCode ?? 500,
          headers: { ...Object.fromEntries(passed), 'content-length': String(answered.length) },
          body: answered,
        });
      }, reject);
    });
    call.end(bytes);
  });
