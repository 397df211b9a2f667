import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDynoxide } from '@generation-service/local-aws/dynamodb';
import { startAwsEndpoint } from '@generation-service/local-aws/endpoint';
import { startLocalRun } from '../local/run.ts';
import { connect } from '../ops/target.ts';
import { type MeasuringProxy, startMeasuringProxy, type TableCall } from './measuring-proxy.ts';

/** What one request to the API gave, and the calls to the table that it took. */
export interface Measured {
  status: number;
  headers: Headers;
  body: unknown;
  calls: TableCall[];
}

/** A request to the API. */
export interface Ask {
  apiKey: string;
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A local run on a table that can be measured. Nothing but what it is asked touches the table. */
export interface MeasuredService {
  /** Makes one request. Throws when calls came from anyone but the one function behind it. */
  ask(request: Ask): Promise<Measured>;
  close(): Promise<void>;
}

/** Longer than a key's bucket takes to be full again, so that every look-up of a key is as the first. */
const PAUSE_MILLISECONDS = 60;

/** No schedule fires while calls are counted. */
const createSilentBus = () => ({ publish() {}, start() {}, close() {} });

/**
 * Starts the service in this process on an empty table in memory, and makes `core` act on that table.
 * Executions stand still at their first task, so that requests stay as they were created.
 */
export const startMeasuredService = async (): Promise<MeasuredService> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'generation-service-bench-'));
  const closing: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true, force: true })];
  const close = async () => {
    for (const part of closing.splice(0).toReversed()) await part();
  };
  try {
    const engine = await startDynoxide(':memory:');
    closing.push(engine.stop);
    const proxy = await startMeasuringProxy(engine.url);
    closing.push(proxy.close);
    const run = await startLocalRun(
      { port: 0, dataDir, environment: { DYNAMODB_ENDPOINT: proxy.url } },
      { startAwsEndpoint: startEndpointWithoutWorkflows, createEventBus: createSilentBus },
    );
    closing.push(run.close);
    await connect({ dataDir });
    const ask = async (asked: Ask): Promise<Measured> => {
      const { result, calls } = await onlyOneCaller(run.endpoint.calls, () =>
        send(proxy, run.baseUrl, asked),
      );
      return { ...result, calls };
    };
    return { ask, close };
  } catch (error) {
    await close();
    throw error;
  }
};

const startEndpointWithoutWorkflows: typeof startAwsEndpoint = async (options) => {
  const endpoint = await startAwsEndpoint(options);
  return {
    ...endpoint,
    startStateMachines: (specs) => endpoint.startStateMachines(specs, () => new Promise(() => undefined)),
  };
};

const send = async (
  proxy: MeasuringProxy,
  baseUrl: string,
  { apiKey, method = 'GET', path, headers = {}, body }: Ask,
) => {
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
  return proxy.measure(async () => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { Authorization: `Bearer ${apiKey}`, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
  });
};

type Counts = Record<string, Record<string, number>>;

/** Runs `work` and checks that all calls it counted are one caller's. */
const onlyOneCaller = async <T extends { calls: TableCall[] }>(
  counts: () => Counts,
  work: () => Promise<T>,
): Promise<T> => {
  const before = counts();
  const done = await work();
  const callers = Object.entries(counts()).flatMap(([name, calls]) => {
    const made = tableCalls(calls) - tableCalls(before[name] ?? {});
    return made > 0 ? [{ name, made }] : [];
  });
  if (callers.length !== 1 || callers[0]?.made !== done.calls.length) {
    throw new Error(`${done.calls.length} calls were measured, but made were ${JSON.stringify(callers)}.`);
  }
  return done;
};

const tableCalls = (counts: Record<string, number>): number =>
  Object.entries(counts).reduce((sum, [call, count]) => sum + (call.startsWith('dynamodb:') ? count : 0), 0);
