import { hold } from '../engine/scheduler.ts';

/** Limits of the SDK's client on a silent service, as our service sets them. */
export interface ClientLimits {
  maxTries: number;
  /** After how long it gives an answer up; undefined when it waits for ever. */
  answerMs: number | undefined;
}

interface Client {
  config: {
    maxAttempts: () => Promise<number>;
    requestHandler: { configProvider?: Promise<HandlerSettings> };
  };
}

interface HandlerSettings {
  requestTimeout?: number;
  throwOnRequestTimeout?: boolean;
  socketTimeout?: number;
}

const known = new WeakMap<object, ClientLimits>();

/** The limits of an SDK client, read from its own configuration. A `requestTimeout` that does not throw only logs. */
export const limitsOf = async (client: object): Promise<ClientLimits> =>
  known.get(client) ?? hold(readLimits(client as Client));

const readLimits = async (client: Client): Promise<ClientLimits> => {
  const settings = (await client.config.requestHandler.configProvider) ?? {};
  const bounds = [
    settings.throwOnRequestTimeout ? settings.requestTimeout : undefined,
    settings.socketTimeout,
  ].filter((bound) => bound !== undefined && bound > 0) as number[];
  const limits = {
    maxTries: await client.config.maxAttempts(),
    answerMs: bounds.length > 0 ? Math.min(...bounds) : undefined,
  };
  known.set(client, limits);
  return limits;
};
