import { LOOP, type Meters, totalUsage, type Usage } from './meters.ts';
import { PRICES } from './prices.ts';

/** Processor time of a call through the SDK on a whole processor: functions of the local run take 25 ms for the 13 calls of an image. */
const CALL_PROCESSOR_SECONDS = 0.002;
/** Memory with which a function has a whole processor; with less it has that share: https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
const WHOLE_PROCESSOR_GIGABYTES = 1_769 / 1_024;
/** Lambda's JSON lines of the start of a run and the report at its end: an assumption. */
const RUN_LOG_BYTES = 700;
/** A line of the gateway's access log: an assumption. */
const CALL_LOG_BYTES = 400;
const BYTES = 1e9;

/** Dollars by what they are for. */
export interface Bill {
  'API Gateway': number;
  'state transitions': number;
  'table writes': number;
  'table reads': number;
  'functions, without waiting for providers': number;
  'functions, waiting for providers': number;
  logs: number;
  'S3, Secrets Manager': number;
}

/** The sum of a bill. */
export const totalOf = (bill: Bill): number => Object.values(bill).reduce((sum, dollars) => sum + dollars, 0);

/** How a bill is counted: calls of the API, and each function's memory in gigabytes. */
export interface Billing {
  apiCalls: number;
  gigabytes: ReadonlyMap<string, number>;
}

/** What the metered usage costs in dollars, without the reconciler's own. Throws when a function's memory is not known. */
export const billOf = ({ functions, transitions }: Meters, { apiCalls, gigabytes }: Billing): Bill => {
  const used = [...functions].filter(([name]) => name !== LOOP);
  const all = totalUsage(used.map(([, usage]) => usage));
  const transitionsOfRequests = [...transitions].filter(([machine]) => machine !== 'expiry');
  let [own, waiting] = [0, 0];
  for (const [name, usage] of used) {
    if (usage.invocations === 0) continue;
    const memory = gigabytes.get(name);
    if (memory === undefined) throw new Error(`The memory of ${name} is not known.`);
    own += secondsOf(usage, memory) * memory;
    waiting += (usage.providerMilliseconds / 1_000) * memory;
  }
  return {
    'API Gateway': apiCalls * PRICES.apiCall,
    'state transitions': transitionsOfRequests.reduce((sum, [, count]) => sum + count, 0) * PRICES.transition,
    'table writes': all.writeUnits * PRICES.writeUnit,
    'table reads': all.readUnits * PRICES.readUnit,
    'functions, without waiting for providers':
      all.invocations * PRICES.lambdaRequest + own * PRICES.lambdaGigabyteSecond,
    'functions, waiting for providers': waiting * PRICES.lambdaGigabyteSecond,
    logs:
      ((all.logBytes + all.invocations * RUN_LOG_BYTES + apiCalls * CALL_LOG_BYTES) / BYTES) *
      PRICES.logGigabyte,
    'S3, Secrets Manager':
      all.bucketWrites * PRICES.bucketWrite +
      all.bucketReads * PRICES.bucketRead +
      all.secretReads * PRICES.secretRead,
  };
};

/** What the reconciler's own usage costs in dollars. Its waiting for providers counts like any other time. */
export const loopBillOf = (
  { functions }: Meters,
  gigabytes: ReadonlyMap<string, number>,
): { functions: number; table: number; logs: number } => {
  const memory = gigabytes.get('events/reconcile');
  if (memory === undefined) throw new Error('The memory of the reconciler is not known.');
  const usage = totalUsage([...functions].filter(([name]) => name === LOOP).map(([, own]) => own));
  // Its calls are made while it waits for its next tick.
  const seconds = Math.max(usage.milliseconds / 1_000, processorSecondsOf(usage, memory));
  return {
    functions: usage.invocations * PRICES.lambdaRequest + seconds * memory * PRICES.lambdaGigabyteSecond,
    table: usage.writeUnits * PRICES.writeUnit + usage.readUnits * PRICES.readUnit,
    logs: ((usage.logBytes + usage.invocations * RUN_LOG_BYTES) / BYTES) * PRICES.logGigabyte,
  };
};

/** Billed seconds without waiting for providers. */
const secondsOf = (usage: Usage, memory: number): number =>
  (usage.milliseconds - usage.providerMilliseconds) / 1_000 + processorSecondsOf(usage, memory);

/** Processor time at the function's share of a processor. */
const processorSecondsOf = ({ calls }: Usage, memory: number): number =>
  (calls * CALL_PROCESSOR_SECONDS) / Math.min(1, memory / WHOLE_PROCESSOR_GIGABYTES);
