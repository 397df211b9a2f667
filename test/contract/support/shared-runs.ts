import type { StartOptions } from './local-service.ts';

/**
 * The local runs that test files share, by name, with the CDK context of each. A run starts when the first test needs
 * it. Each file uses its own accounts, and files do not disturb each other.
 */
export const SHARED_RUNS = {
  /** Default settings, but rates are published, a failed webhook delivery is retried every second, and OpenAI's clients wait less for a response. */
  default: { publishRates: 'true', webhookRetrySeconds: '1,1', openaiWaitSeconds: 6 },
  /** A content filter, short deadlines for images and videos, and two models without a route. */
  filtered: {
    guardrailId: 'test',
    imageDeadlineSeconds: 8,
    videoDeadlineSeconds: 15,
    outputTtlSeconds: 15,
    pollIntervalSeconds: 1,
    modelRoutes: JSON.stringify({
      'xSD4.5': { provider: 'modelark', upstreamModel: 'seedream-4-5-251128' },
      'xZI1.0Pro': { provider: 'modelstudio', upstreamModel: 'z-image-turbo' },
      'xW2.7S': { provider: 'modelstudio', upstreamModel: 'wan2.7-i2v' },
      'xW3.0s': { provider: 'modelstudio', upstreamModel: 'wan3.0-video' },
      'xW3.0sPro': { provider: 'modelark', upstreamModel: 'sandbox-xw3-pro' },
    }),
  },
  /** No private webhook targets, no published rates, and short pauses after short deadlines. No output can be fetched from the sandbox. */
  guarded: {
    allowPrivateTargets: 'false',
    imageDeadlineSeconds: 2,
    pauseSeconds: 8,
    pollIntervalSeconds: 1,
  },
} as const satisfies Record<string, StartOptions['context']>;
export type SharedRun = keyof typeof SHARED_RUNS;
