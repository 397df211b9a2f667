import { setImmediate } from 'node:timers/promises';

import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  SendTaskSuccessCommand,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';

import { afterAll, beforeAll } from '@jest/globals';

import type { AwsEndpointOptions } from '../../src/aws/endpoint.ts';
import type { AwsEvent } from '../../src/types.ts';
import { MACHINES } from './machines.ts';
import {
  clientsOf,
  endpointOptions,
  eventually,
  failure,
  invoker,
  machineArn,
  NO_TABLES,
  removeDirectory,
  startEndpoint,
} from './support.ts';

/** What the functions of the machines have seen, and the gate that one of them waits at. */
const openFunctions = () => {
  const tokens: string[] = [];
  const calls: string[] = [];
  const gate = Promise.withResolvers<void>();
  const state = { tokens, calls, gate, isGateReached: false };
  const invoke = invoker({
    echo: (payload: unknown) => payload,
    flaky: ({ id, failures }: { id: string; failures: number }) => {
      calls.push(id);
      if (calls.filter((call) => call === id).length <= failures)
        throw failure('ProviderBusyError', 'try later');
      return {};
    },
    'hand-over': ({ token }: { token: string }) => {
      tokens.push(token);
      return { handedOver: true };
    },
    note: () => calls.push('noted'),
    gate: async () => {
      state.isGateReached = true;
      await gate.promise;
    },
    large: () => 'x'.repeat(262_144),
  });
  return { state, invoke };
};

/** The calls of Step Functions that tests make, by a client. */
const callsBy = (sfn: ReturnType<typeof clientsOf>['sfn']) => {
  const start = (machine: string, input: unknown, name?: string) =>
    sfn.send(
      new StartExecutionCommand({ stateMachineArn: machineArn(machine), input: JSON.stringify(input), name }),
    );
  const describeExecution = (executionArn: string | undefined) =>
    sfn.send(new DescribeExecutionCommand({ executionArn }));
  const ended = (executionArn: string | undefined) =>
    eventually(
      () => describeExecution(executionArn),
      ({ status }) => status !== 'RUNNING',
    );
  return {
    start,
    describeExecution,
    ended,
    historyOf: async (executionArn: string | undefined, rest: object = {}) =>
      (await sfn.send(new GetExecutionHistoryCommand({ executionArn, ...rest }))).events ?? [],
    /** Starts an execution and waits for its end; the output is parsed. */
    async run(machine: string, input: unknown, name?: string) {
      const { executionArn } = await start(machine, input, name);
      const { output, ...rest } = await ended(executionArn);
      return { ...rest, output: output === undefined ? undefined : (JSON.parse(output) as unknown) };
    },
    succeed: (taskToken: string, output = '{}', client = sfn) =>
      client.send(new SendTaskSuccessCommand({ taskToken, output })),
  };
};

type Local = Awaited<ReturnType<typeof startMachines>>;

/** Starts an endpoint with the machines, and helpers for the tests. */
const startMachines = async (changes: Partial<AwsEndpointOptions>) => {
  const options = endpointOptions(changes);
  const endpoint = await startEndpoint(options);
  const { sfn } = clientsOf(endpoint);
  const { state, invoke } = openFunctions();
  /** Events published for rules. */
  const events: AwsEvent[] = [];
  await endpoint.startStateMachines(MACHINES, invoke, (event) => events.push(event));

  return {
    endpoint,
    sfn,
    /** Calls of the functions. */
    calls: state.calls,
    events,
    ...callsBy(sfn),
    /** Whether an execution of `gated` waits in its function. */
    isGateReached: () => state.isGateReached,
    /** Lets the function of `gated` answer, and waits for what follows. */
    async openGate() {
      state.gate.resolve();
      await setImmediate();
    },
    /** The token of the next waiting task. */
    async nextToken(): Promise<string> {
      await eventually(
        () => state.tokens.length,
        (count) => count > 0,
      );
      return state.tokens.shift() ?? '';
    },
    async close() {
      await endpoint.close();
      removeDirectory(options.dataDir);
    },
  };
};

/** The machines for all tests of a file. They are there once they begin. */
export const useMachines = (changes: Partial<AwsEndpointOptions> = NO_TABLES): Local => {
  const local = {} as Local;
  beforeAll(async () => {
    Object.assign(local, await startMachines(changes));
  });
  afterAll(() => local.close());
  return local;
};
