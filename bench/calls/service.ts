import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDynoxide } from '@generation-service/local-aws/dynamodb';
import { startAwsEndpoint } from '@generation-service/local-aws/endpoint';
import { startLocalRun } from '../../local/run.ts';
import { connect } from '../../ops/target.ts';
import { type MeasuringProxy, startMeasuringProxy, type TableCall } from './measuring-proxy.ts';

/** The response to an API request, and the table calls it caused. */
export interface Measured {
  status: number;
  headers: Headers;
  body: unknown;
  calls: TableCall[];
}

/** An API request. */
export interface ApiCall {
  apiKey: string;
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A local run whose table calls are measured. Only the measured requests call the table. */
export interface MeasuredService {
  /** Sends one request. Throws when any function but the endpoint's own called the table. */
  send(request: ApiCall): Promise<Measured>;
  close(): Promise<void>;
}

/** Pause between requests, longer than a key's rate limit bucket takes to refill. */
const PAUSE_MILLISECONDS = 60;

/** Keeps schedules from calling the table. */
const createSilentBus = () => ({ publish() {}, start() {}, close() {} });

/**
 * Starts the service in this process on an empty table in memory, and connects `core` to that table. Executions hang at
 * their first task, so requests stay as they were created.
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
    const send = async (request: ApiCall): Promise<Measured> => {
      const { result, calls } = await withOneCaller(run.endpoint.calls, () =>
        measureRequest(proxy, run.baseUrl, request),
      );
      return { ...result, calls };
    };
    return { send, close };
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

const measureRequest = async (
  proxy: MeasuringProxy,
  baseUrl: string,
  { apiKey, method = 'GET', path, headers = {}, body }: ApiCall,
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

/** Runs `work`. Throws unless all its calls were made by one caller. */
const withOneCaller = async <T extends { calls: TableCall[] }>(
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
    throw new Error(`Measured ${done.calls.length} calls, but the callers made ${JSON.stringify(callers)}.`);
  }
  return done;
};

const tableCalls = (counts: Record<string, number>): number =>
  Object.entries(counts).reduce((sum, [call, count]) => sum + (call.startsWith('dynamodb:') ? count : 0), 0);
