import { SFNClient } from '@aws-sdk/client-sfn';

/** Each attempt of a call takes at most 5 s. */
export const stepFunctions = new SFNClient({
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 5000 },
});
