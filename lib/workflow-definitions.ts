import type { TaskSettings, WorkflowProps } from './workflow.ts';

/** Time beyond the deadline that a task enforces itself: to load, record and answer. */
const MARGIN_SECONDS = 30;
/** Lambda's limit on a function's timeout. */
const MAX_LAMBDA_SECONDS = 900;
/**
 * A synchronous image waits some 15 s in the dispatch, so memory decides its price: $0.10 per 1,000 with 512 MB, $0.05 with 256. The process takes 95 to
 * 120 MB, too much for 128 MB. With 256 MB, a run's 8 ms of processor time take some 60 ms, and a new process is ready about half a second later.
 */
const DISPATCH_MEGABYTES = 256;

const define = <Task extends string>(
  definition: string,
  arnVariable: WorkflowProps<Task>['arnVariable'],
  tasks: Record<Task, TaskSettings>,
): Omit<WorkflowProps<Task>, 'bundleOf' | 'context'> => ({ definition, arnVariable, tasks });

/** The workflow that takes a request from its creation to a terminal state. */
export const generationDefinition = (imageDeadlineSeconds: number) =>
  define('generation', 'GENERATION_STATE_MACHINE_ARN', {
    'dispatch-request': {
      description: 'Sends a request to its provider',
      timeoutSeconds: Math.min(MAX_LAMBDA_SECONDS, imageDeadlineSeconds + MARGIN_SECONDS),
      memorySize: DISPATCH_MEGABYTES,
    },
    'await-capacity': {
      description: "Stores the task token under which a request waits for its provider's capacity",
      timeoutSeconds: 45,
    },
    'await-provider': {
      description: 'Stores the task token under which a request waits',
      timeoutSeconds: 45,
    },
    'query-provider': { description: 'Queries the provider for the state of a request', timeoutSeconds: 45 },
    'store-outputs': {
      description: 'Copies outputs to the bucket',
      timeoutSeconds: MAX_LAMBDA_SECONDS,
      memorySize: 1024,
      // A video of up to 2 GiB is on it while it is measured.
      diskMegabytes: 2560,
    },
    'settle-request': { description: 'Ends a request according to its stored outputs', timeoutSeconds: 30 },
    'fail-request': { description: 'Fails a request and refunds it', timeoutSeconds: 30 },
  });

/** The workflow that removes the files of expired requests. */
export const EXPIRY_DEFINITION = define('expiry', 'EXPIRY_STATE_MACHINE_ARN', {
  'list-expired-requests': { description: 'Lists expired requests in batches', timeoutSeconds: 30 },
  'expire-requests': { description: 'Removes the files of a batch of expired requests', timeoutSeconds: 60 },
});

/** The workflow that delivers a request's webhook. */
export const WEBHOOK_DELIVERY_DEFINITION = define('webhook-delivery', 'WEBHOOK_DELIVERY_STATE_MACHINE_ARN', {
  'deliver-webhook': { description: "Makes one attempt to deliver a request's webhook", timeoutSeconds: 45 },
});

/** The workflow that verifies all ledgers. */
export const VERIFY_LEDGERS_DEFINITION = {
  ...define('verify-ledgers', 'VERIFY_LEDGERS_STATE_MACHINE_ARN', {
    'list-ledgers': { description: 'Lists ledgers to verify in batches', timeoutSeconds: 60 },
    'verify-ledgers': {
      description: 'Replays a batch of ledgers and checks them against balances and requests',
      timeoutSeconds: MAX_LAMBDA_SECONDS,
      // A whole processor: most of its time is spent parsing items.
      memorySize: 1769,
    },
  }),
  mapLabel: 'VerifyBatch',
};
