/** Drawn bugs that change nothing that the service promises, each by its name, with the reason. */
export const EQUIVALENTS: ReadonlyMap<string, string> = new Map([]);
