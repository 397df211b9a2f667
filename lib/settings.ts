import type { StackContext } from './context.ts';
import { VERSION } from './release.ts';
import type { ServiceFunction } from './service-function.ts';

/** How the service names itself to servers of others: its version, and where the operator can be found. */
const userAgentOf = ({ userAgentUrl }: StackContext): string =>
  `generation-service/${VERSION}${userAgentUrl === undefined ? '' : ` (+${userAgentUrl})`}`;

const variablesOf = (context: StackContext) => ({
  OUTPUT_TTL_SECONDS: String(context.outputTtlSeconds),
  RETENTION_DAYS: String(context.retentionDays),
  PAUSE_SECONDS: String(context.pauseSeconds),
  REFUSED_WORK_PER_HOUR: String(context.refusedWorkPerHour),
  IMAGE_DEADLINE_SECONDS: String(context.imageDeadlineSeconds),
  VIDEO_DEADLINE_SECONDS: String(context.videoDeadlineSeconds),
  QUEUE_DEADLINE_SECONDS: String(context.queueDeadlineSeconds),
  POLL_INTERVAL_SECONDS: String(context.pollIntervalSeconds),
  CALLBACK_WAIT_SECONDS: String(context.callbackWaitSeconds),
  WEBHOOK_RETRY_SECONDS: context.webhookRetrySeconds,
  ALLOW_PRIVATE_TARGETS: String(context.allowPrivateTargets),
  PUBLISH_RATES: String(context.publishRates),
  AI_MARKING: context.aiMarking,
  OPENAI_WAIT_SECONDS: String(context.openaiWaitSeconds),
  OPENAI_WAITING: String(context.openaiWaiting),
  // Without a number, a fifth of the AWS account's concurrent executions.
  OPENAI_WAITING_IN_ALL: String(context.openaiWaitingInAll ?? 'a fifth'),
  USER_AGENT: userAgentOf(context),
});
type Variables = ReturnType<typeof variablesOf>;

/** The variables whose values come straight from the context. They need no permission. */
export class Settings {
  readonly variables: Variables;

  constructor(context: StackContext) {
    this.variables = variablesOf(context);
  }

  /** Gives functions these settings. */
  bind(functions: readonly ServiceFunction[], ...names: (keyof Variables)[]): void {
    const variables = Object.fromEntries(names.map((name) => [name, this.variables[name]]));
    for (const to of functions) to.addEnvironment(variables);
  }
}
