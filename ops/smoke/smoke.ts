import type { AwsAccount } from './aws-account.ts';
import type { SmokeCaller } from './http.ts';
import type { Operator } from './operator.ts';
import type { Creations } from './plan.ts';

/** Options of a smoke test. */
export interface SmokeOptions {
  /** Where the image's webhook goes; undefined when nothing is there to receive it. */
  webhookUrl: string | undefined;
  /** Concurrency of Lambda below which the quota is reported. */
  minConcurrency: number;
  /** Calls that may wait for images at once, where the stack names a number of its own. */
  waitingInAll: number | undefined;
  /** Longest wait for the image and for the video, each. */
  patienceSeconds: number;
  /** Longest wait for the metric of the alarms' topic, which comes minutes late. */
  metricPatienceSeconds: number;
}

/** A request that the smoke test created. */
export interface MadeRequest {
  requestId: string;
  /** xTokens, once it has succeeded. */
  cost?: number;
  /** Signed URL of its file, once it has succeeded. */
  url?: string;
  /** Pixels as the record gives them; of an image. */
  size?: string;
}

/** Results that checks leave for later ones. */
interface Made {
  accountId?: string;
  key?: string;
  xTokens?: number;
  creations?: Creations;
  image?: MadeRequest;
  video?: MadeRequest;
  /** The alarm that was set to ALARM, and when. */
  alarm?: { name: string; raisedAt: Date };
}

/** One run: the service, the access to it, and the resources made so far. */
export interface Smoke {
  caller: SmokeCaller;
  operator: Operator;
  /** Quotas and alarms of the AWS account. Undefined for the local run, which has none. */
  aws: AwsAccount | undefined;
  options: SmokeOptions;
  made: Made;
  signal: AbortSignal;
  /** Says what goes on within a check. */
  say(text: string): void;
  /** Waits between two checks. Rejects when the run is stopped. */
  pause(milliseconds: number): Promise<void>;
}
