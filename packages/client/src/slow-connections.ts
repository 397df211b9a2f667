/** What Node.js sets for all connections of the process. Other platforms have none of it, or ignore it. */
interface ConnectionSettings {
  getDefaultAutoSelectFamilyAttemptTimeout?: () => number;
  setDefaultAutoSelectFamilyAttemptTimeout?: (milliseconds: number) => void;
}

/** The limits that Node.js has by itself, by its version. Any other is somebody's choice. */
const NODE_LIMITS_MS = [250, 500];
/** Two addresses then have 5 s in all. */
const ADDRESS_LIMIT_MS = 2_500;

/**
 * Raises Node's time limit to connect to one of several addresses, for the whole process, unless the process has set its own. Node gives up every
 * address but the last after 250 ms: a distant host with an IPv6 address cannot be reached from a network without IPv6.
 */
export const allowSlowConnections = (): void => {
  const platform = globalThis as {
    process?: { getBuiltinModule?: (name: string) => ConnectionSettings | undefined };
  };
  const settings = platform.process?.getBuiltinModule?.('node:net');
  const limit = settings?.getDefaultAutoSelectFamilyAttemptTimeout?.();
  if (limit !== undefined && NODE_LIMITS_MS.includes(limit))
    settings?.setDefaultAutoSelectFamilyAttemptTimeout?.(ADDRESS_LIMIT_MS);
};
