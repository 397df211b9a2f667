import { type FixtureServer, startFixtureServer } from './fixture-server.ts';
import { FIXTURES_URL } from './local-service.ts';

/** Holds the server between set-up and teardown: one process, two module graphs. */
export const held = globalThis as { contractFixtures?: FixtureServer };

/** Starts the server that the tests get shared local runs and operators' commands from. */
export default async (): Promise<void> => {
  held.contractFixtures ??= await startFixtureServer();
  process.env[FIXTURES_URL] = held.contractFixtures.url;
};
