import { LambdaClient } from '@aws-sdk/client-lambda';
import { SFNClient } from '@aws-sdk/client-sfn';
import { jest } from '@jest/globals';
import { table } from '../../../core/table/table.ts';

/** The number of the call to hold, the calls so far, and the gate that the held one waits at. */
let hold = { number: 0, calls: 0, gate: Promise.withResolvers<void>() };
const passGate = async (): Promise<void> => {
  if (++hold.calls === hold.number) await hold.gate.promise;
};
interface Client {
  send: (command: unknown) => Promise<unknown>;
}
const CLIENTS = [table, SFNClient.prototype, LambdaClient.prototype] as unknown as Client[];

/** Sets a gate before each call of AWS until it is taken away. */
const setGate = (): (() => void) => {
  const gates = CLIENTS.map((client) => {
    const { send } = client;
    return jest.spyOn(client, 'send').mockImplementation(async function (this: Client, command) {
      await passGate();
      return send.call(this, command);
    });
  });
  return () => {
    for (const gate of gates) gate.mockRestore();
  };
};

const turn = (): Promise<void> => new Promise(setImmediate);

/** Whether a run has ended while its call of this number was held; undefined when it makes fewer calls. */
export const endsWithout = async (
  number: number,
  run: () => Promise<unknown>,
): Promise<boolean | undefined> => {
  hold = { number, calls: 0, gate: Promise.withResolvers() };
  const takeAway = setGate();
  let hasEnded = false;
  const running = run().finally(() => {
    hasEnded = true;
  });
  while (!hasEnded && hold.calls < number) await turn();
  for (let count = 0; count < 20; count++) await turn();
  const endedEarly = hold.calls < number ? undefined : hasEnded;
  hold.gate.resolve();
  await running;
  takeAway();
  return endedEarly;
};
