import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { EnvironmentName } from '../core/environment.ts';

export const DEFAULT_DATA_DIRECTORY = '.local';
export const DEFAULT_STACK = 'GenerationService';

/** Which service is meant; both may be left out. */
export interface TargetOptions {
  dataDir?: string;
  stack?: string;
}

/** There is no service to act on, or what describes it cannot be used. The message is for the operator. */
export class TargetError extends Error {
  override name = 'TargetError';
}

/** What a local run tells about itself, as far as it is needed here. */
const LocalRun = z.object({
  pid: z.int().check(z.positive()),
  awsEndpointUrl: z.url(),
  tableName: z.string(),
  operatorAccessKeyId: z.string(),
  operatorSecretAccessKey: z.string(),
  /** The stack's outputs by name. */
  outputs: z._default(z.record(z.string(), z.string()), {}),
});
type LocalRun = z.infer<typeof LocalRun>;

type Outputs = Readonly<Record<string, string | undefined>>;

/** The variables `core` reads and the stack output each takes its value from. A secret's name finds it as its ARN does. */
const OUTPUT_OF = {
  TABLE_NAME: 'TableName',
  BUCKET_NAME: 'BucketName',
  GENERATION_STATE_MACHINE_ARN: 'GenerationStateMachineArn',
  EXPIRY_STATE_MACHINE_ARN: 'ExpiryStateMachineArn',
  WEBHOOK_DELIVERY_STATE_MACHINE_ARN: 'WebhookDeliveryStateMachineArn',
  RETENTION_DAYS: 'RetentionDays',
  PUBLIC_BASE_URL: 'BaseUrl',
  MODEL_ROUTES: 'ModelRoutes',
  MODELARK_SECRET_ARN: 'ModelArkSecretName',
  MODELSTUDIO_SECRET_ARN: 'ModelStudioSecretName',
} satisfies Partial<Record<EnvironmentName, string>>;

/**
 * Makes this process act on the service that is meant, by setting the variables that `core` and the AWS clients read at their first call:
 * the local run when one is up, else the deployed stack. A stack that is named alone is meant, whatever runs here. Throws `TargetError`.
 */
export const connect = async ({ dataDir, stack }: TargetOptions): Promise<void> => {
  const directory = dataDir ?? DEFAULT_DATA_DIRECTORY;
  const stackIsMeant = stack !== undefined && dataDir === undefined;
  const localRun = stackIsMeant ? undefined : findLocalRun(directory);
  if (localRun) {
    useLocalCredentials(localRun);
    useOutputs({ ...localRun.outputs, TableName: localRun.tableName });
    return;
  }
  const stackName = stack ?? DEFAULT_STACK;
  try {
    useOutputs(await readStackOutputs(stackName));
  } catch (cause) {
    const found = stackIsMeant ? '' : `No local run is up in ${directory}, and `;
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new TargetError(`${found}stack ${stackName} cannot be used: ${problem}`, { cause });
  }
};

/** The local run of a data directory; undefined when none is up. Throws `TargetError` when its description cannot be used. */
export const findLocalRun = (directory: string): LocalRun | undefined => {
  const file = join(directory, 'local.json');
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
  const run = LocalRun.safeParse(parseJson(content));
  if (!run.success) throw new TargetError(`${file} does not describe a local run.`);
  return isAlive(run.data.pid) ? run.data : undefined;
};

const parseJson = (content: string): unknown => {
  try {
    return JSON.parse(content);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there, but another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Nothing of the operator's own AWS set-up may reach a local run, and no call meant for it may leave the machine. */
const useLocalCredentials = (localRun: LocalRun): void => {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('AWS_')) delete process.env[name];
  }
  process.env.AWS_ENDPOINT_URL = localRun.awsEndpointUrl;
  process.env.AWS_REGION = 'us-east-1';
  process.env.AWS_ACCESS_KEY_ID = localRun.operatorAccessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = localRun.operatorSecretAccessKey;
};

/** Sets each variable, or clears it, so that none is left of the shell this was started from. */
const useOutputs = (outputs: Outputs): void => {
  if (!outputs.TableName) throw new TargetError('it has no output TableName');
  for (const [variable, output] of Object.entries(OUTPUT_OF)) {
    const value = outputs[output];
    if (value === undefined) delete process.env[variable];
    else process.env[variable] = value;
  }
};

const readStackOutputs = async (stackName: string): Promise<Outputs> => {
  // Most runs are local: the client is loaded only when it is needed.
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const { Stacks = [] } = await new CloudFormationClient({}).send(
    new DescribeStacksCommand({ StackName: stackName }),
  );
  const outputs = Stacks[0]?.Outputs ?? [];
  return Object.fromEntries(outputs.map(({ OutputKey = '', OutputValue }) => [OutputKey, OutputValue]));
};
