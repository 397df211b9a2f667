import { requiredNumberEnv } from '../environment.ts';
import type { WorkflowSettings } from './deadline-rules.ts';

/** The settings of the deployment, from the environment. Throws, naming the variable, when one is missing. */
export const workflowSettings = (): WorkflowSettings => ({
  deadlineSeconds: {
    image: requiredNumberEnv('IMAGE_DEADLINE_SECONDS'),
    video: requiredNumberEnv('VIDEO_DEADLINE_SECONDS'),
  },
  queueDeadlineSeconds: requiredNumberEnv('QUEUE_DEADLINE_SECONDS'),
  pollIntervalSeconds: requiredNumberEnv('POLL_INTERVAL_SECONDS'),
});
