import { storeOutputs } from '../../core/workflow/store-outputs.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Copies what the provider produced to the bucket. */
export const handler = workflowTask(TaskInput, ({ requestId }) => storeOutputs(requestId));
