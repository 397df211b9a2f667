import { storeOutputs } from '../../core/storing/store-outputs.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Copies the provider's outputs to the bucket. */
export const handler = workflowTask(TaskInput, ({ requestId }) => storeOutputs(requestId));
