/** What Node.js sets for all connections of its process. Other platforms have nothing of the kind. */
interface Platform {
  process?: {
    getBuiltinModule?: (name: string) => {
      getDefaultAutoSelectFamilyAttemptTimeout?: () => number;
      setDefaultAutoSelectFamilyAttemptTimeout: (milliseconds: number) => void;
    };
  };
}

/**
 * Raises Node's time limit to connect to one of several addresses to 2.5 s, for the whole process, unless the process has set its own: two
 * addresses then have 5 s in all. Node gives up every address but the last after 250 ms (later versions 500), so that a distant host with an
 * IPv6 address cannot be reached from a network without IPv6.
 */
export const allowSlowConnections = (): void => {
  const net = (globalThis as Platform).process?.getBuiltinModule?.('net');
  const limit = net?.getDefaultAutoSelectFamilyAttemptTimeout?.();
  if (limit === 250 || limit === 500) net?.setDefaultAutoSelectFamilyAttemptTimeout(2_500);
};
