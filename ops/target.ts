import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { clientOptions } from '../core/aws-clients.ts';
import type { EnvironmentName } from '../core/environment.ts';
import { setOwnModels } from '../core/models/catalog.ts';
import { isProviderId, namesOfProvider, PROVIDER_IDS } from '../core/provider-names.ts';

/** Data directory of the local run when `--data-dir` is not given. */
export const DEFAULT_DATA_DIRECTORY = '.local';
/** Stack to act on when `--stack` is not given and no local run is up. */
export const DEFAULT_STACK = 'GenerationService';

/** The service to act on. */
export interface TargetOptions {
  dataDir?: string;
  stack?: string;
  /** The AWS region of the stack; otherwise that of the AWS settings. */
  region?: string;
}

/** No service to act on, or its description is unusable. The message is for the operator. */
export class TargetError extends Error {
  override name = 'TargetError';
}

/** The fields of `local.json` used here. */
const LocalRun = z.object({
  pid: z.int().check(z.positive()),
  awsEndpointUrl: z.url(),
  tableName: z.string(),
  operatorAccessKeyId: z.string(),
  operatorSecretAccessKey: z.string(),
  /** Stack outputs by name. */
  outputs: z._default(z.record(z.string(), z.string()), {}),
  /** Null when every provider is the real one. */
  sandboxUrl: z._default(z.nullable(z.string()), null),
});
type LocalRun = z.infer<typeof LocalRun>;

type Outputs = Readonly<Record<string, string | undefined>>;

/** The service that this process points at. */
export interface Target {
  /** Undefined for the local run. */
  stackName: string | undefined;
  /** Stack outputs by name. */
  outputs: Outputs;
  /** The sandbox providers; undefined when the service has none. */
  sandboxUrl: string | undefined;
}

/** The variables that `core` reads, each with the stack output that holds its value. A secret's name works in place of its ARN. */
const OUTPUT_OF = {
  TABLE_NAME: 'TableName',
  BUCKET_NAME: 'BucketName',
  GENERATION_STATE_MACHINE_ARN: 'GenerationStateMachineArn',
  EXPIRY_STATE_MACHINE_ARN: 'ExpiryStateMachineArn',
  WEBHOOK_DELIVERY_STATE_MACHINE_ARN: 'WebhookDeliveryStateMachineArn',
  DELIVER_WEBHOOK_FUNCTION_ARN: 'DeliverWebhookFunctionArn',
  VERIFY_LEDGERS_STATE_MACHINE_ARN: 'VerifyLedgersStateMachineArn',
  IMAGE_DEADLINE_SECONDS: 'ImageDeadlineSeconds',
  VIDEO_DEADLINE_SECONDS: 'VideoDeadlineSeconds',
  WEBHOOK_RETRY_SECONDS: 'WebhookRetrySeconds',
  PUBLIC_BASE_URL: 'BaseUrl',
  MODEL_ROUTES: 'ModelRoutes',
  ...Object.fromEntries(
    PROVIDER_IDS.map(namesOfProvider).flatMap((names) => [
      [names.baseUrlVariable, names.baseUrlOutput],
      [names.secretVariable, names.secretOutput],
    ]),
  ),
} satisfies Partial<Record<EnvironmentName, string>>;

/** The same of the accounts at providers that routes lead to. */
const outputsOfAccounts = ({ ModelRoutes: routes = '{}' }: Outputs): [variable: string, output: string][] => {
  const named = [...routes.matchAll(/"provider":"([^"]+)"/g)].flatMap(([, provider = '']) =>
    isProviderId(provider) ? [provider] : [],
  );
  return [...new Set(named)].map(namesOfProvider).flatMap((names) => [
    [names.baseUrlVariable, names.baseUrlOutput],
    [names.secretVariable, names.secretOutput],
  ]);
};

/**
 * Points this process at a service by setting the variables that `core` and the AWS clients read: the local run when one is up, else the
 * deployed stack. With `stack` or `region` and no `dataDir`, always the stack. Clients keep the endpoint of their first call. Throws `TargetError`.
 */
export const connect = async ({ dataDir, stack, region }: TargetOptions): Promise<Target> => {
  const directory = dataDir ?? DEFAULT_DATA_DIRECTORY;
  const stackOnly = (stack ?? region) !== undefined && dataDir === undefined;
  const localRun = stackOnly ? undefined : findLocalRun(directory);
  if (localRun) {
    useLocalCredentials(localRun);
    const outputs = { ...localRun.outputs, TableName: localRun.tableName };
    useOutputs(outputs);
    return { stackName: undefined, outputs, sandboxUrl: localRun.sandboxUrl ?? undefined };
  }
  const stackName = stack ?? DEFAULT_STACK;
  if (region !== undefined) process.env.AWS_REGION = region;
  try {
    const outputs = await readStackOutputs(stackName);
    useOutputs(outputs);
    return { stackName, outputs, sandboxUrl: outputs.SandboxUrl };
  } catch (cause) {
    const found = stackOnly ? '' : `No local run is up in ${directory}, and `;
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new TargetError(`${found}stack ${stackName} cannot be used: ${problem}`, { cause });
  }
};

/** The local run of a data directory; undefined when none is up. Throws `TargetError` when `local.json` is malformed. */
const findLocalRun = (directory: string): LocalRun | undefined => {
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
    // EPERM: the process exists but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Replaces the operator's own AWS settings, so that no call meant for the local run reaches AWS. */
const useLocalCredentials = (localRun: LocalRun): void => {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('AWS_')) delete process.env[name];
  }
  process.env.AWS_ENDPOINT_URL = localRun.awsEndpointUrl;
  process.env.AWS_REGION = 'us-east-1';
  process.env.AWS_ACCESS_KEY_ID = localRun.operatorAccessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = localRun.operatorSecretAccessKey;
};

/** Sets or clears every variable, so that none keeps a value from the shell, and lists the models of the service. */
const useOutputs = (outputs: Outputs): void => {
  if (!outputs.TableName) throw new TargetError('it has no output TableName');
  setOwnModels(JSON.parse(outputs.OwnModels ?? '[]'));
  for (const [variable, output] of [...Object.entries(OUTPUT_OF), ...outputsOfAccounts(outputs)]) {
    const value = outputs[output];
    if (value === undefined) delete process.env[variable];
    else process.env[variable] = value;
  }
};

const readStackOutputs = async (stackName: string): Promise<Outputs> => {
  const outputs = (await describeStack(stackName))?.Outputs ?? [];
  return Object.fromEntries(outputs.map(({ OutputKey = '', OutputValue }) => [OutputKey, OutputValue]));
};

/** Whether there is a stack of this name, in any state. */
export const stackExists = async (stackName: string): Promise<boolean> => {
  try {
    await describeStack(stackName);
    return true;
  } catch (error) {
    // CloudFormation has no error of its own for it.
    if (error instanceof Error && /does not exist/.test(error.message)) return false;
    throw error;
  }
};

const describeStack = async (stackName: string) => {
  // Imported on demand: most runs are local.
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const { Stacks = [] } = await new CloudFormationClient(clientOptions('stack')).send(
    new DescribeStacksCommand({ StackName: stackName }),
  );
  return Stacks[0];
};
