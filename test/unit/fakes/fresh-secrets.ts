import { beforeEach } from '@jest/globals';
import { MemorySecrets } from './memory-secrets.ts';

/** The secrets in memory: at the beginning of each test, no more than a key for each provider. */
export const secrets = new MemorySecrets();
beforeEach(() => {
  secrets.reset();
  for (const provider of ['modelark', 'modelstudio']) secrets.set(`arn:${provider}-key`, 'key');
});
