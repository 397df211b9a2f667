import '../../unit/builders/environment.ts';
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Upload } from '@aws-sdk/lib-storage';
import { type Definition, readDefinition } from '@generation-service/local-aws/interpreter';
import * as workflows from '../../../lib/workflow-definitions.ts';
import { aVideo } from '../../../packages/media/test/videos.ts';
import { findLastRelease } from '../../releases/last-release.ts';
import { RETRY_SECONDS } from '../../unit/builders/webhook-schedule.ts';
import { sendToBucket } from './aws/bucket.ts';
import { type ClientLimits, limitsOf } from './aws/client-limits.ts';
import { machineArn } from './aws/execution.ts';
import type { DeployedFunction, Handler } from './aws/lambda.ts';
import { sendToLambda } from './aws/lambda-client.ts';
import { sendToSecrets } from './aws/secrets.ts';
import type { Deployment } from './aws/step-functions.ts';
import { sendToTable } from './aws/table-client.ts';
import { world } from './current.ts';
import { nextDefinitions, withNewNames } from './next-release.ts';
import { makeClips } from './upstream/clips.ts';
import { FAL_MODEL } from './upstream/fal.ts';
import { deliverMp4, SECONDS_OF_MP4 } from './upstream/media.ts';
import { measureWithoutDisk } from './upstream/spooled-video.ts';

const root = new URL('../../../', import.meta.url);

/** Variables that the unit tests' environment may not have. */
const VARIABLES = {
  GENERATION_STATE_MACHINE_ARN: machineArn('generation'),
  EXPIRY_STATE_MACHINE_ARN: machineArn('expiry'),
  WEBHOOK_DELIVERY_STATE_MACHINE_ARN: machineArn('webhook-delivery'),
  WEBHOOK_RETRY_SECONDS: RETRY_SECONDS,
  CALLBACK_SECRET_ARN: 'arn:callback-secret',
  CALLBACK_WAIT_SECONDS: '60',
  VIDEO_DEADLINE_SECONDS: '3600',
  RECONCILE_INTERVAL_SECONDS: '60',
  // A second account at a provider, at the same address.
  MODELSTUDIO_BASE_URL_EU: process.env.MODELSTUDIO_BASE_URL,
  MODELSTUDIO_SECRET_ARN_EU: 'arn:modelstudio@eu-key',
};

/** Time limits by function: the workflows' from the stack's own definitions, the others' as `lib/reconciler.ts` and `lib/clip-measuring.ts` set them. */
const TIMEOUT_SECONDS: Record<string, number> = {
  ...Object.fromEntries(
    [
      workflows.generationDefinition(Number(process.env.IMAGE_DEADLINE_SECONDS)),
      ...Object.values(workflows).filter((definition) => typeof definition === 'object'),
    ].flatMap(({ tasks }) =>
      Object.entries(tasks).map(([name, { timeoutSeconds }]) => [`workflow/${name}`, timeoutSeconds]),
    ),
  ),
  'events/reconcile': 120,
  'events/reconcile-lost': 60,
  'media/measure-clips': 10,
  'api/create-openai-image': Number(process.env.OPENAI_WAIT_SECONDS) + 60,
};
/** The gateway's, which every other function has. */
const DEFAULT_TIMEOUT_SECONDS = 29;

/** Entry points that only serve the deployment itself. */
const NOT_SIMULATED = new Set(['create-signing-key', 'publish-pages', 'run-canary', 'stop-executions']);

/** Puts the stand-ins behind the clients of the service and loads its functions and state machines. */
export const loadService = async (): Promise<Deployment> => {
  for (const [name, value] of Object.entries(VARIABLES)) process.env[name] ??= value;
  process.env.MODEL_ROUTES = JSON.stringify({
    'xSD4.5': { provider: 'modelark', upstreamModel: 'seedream' },
    xQI3Pro: { provider: 'modelstudio', upstreamModel: 'qwen-image' },
    'xZI1.0Pro': { provider: 'modelstudio', upstreamModel: 'z-image' },
    xSD5Pro: { provider: 'fal', upstreamModel: FAL_MODEL },
    'xW2.7S': { provider: 'modelark', upstreamModel: 'seedance' },
    'xW3.0s': { provider: 'modelstudio', upstreamModel: 'wan' },
  });
  standIn();
  await readSettings();
  deliverMp4(await aVideo({ seconds: SECONDS_OF_MP4, width: 64, height: 64, framesPerSecond: 2 }));
  await makeClips();
  const texts = readTexts();
  const last = findLastRelease();
  return {
    machines: {
      ...(last && { last: readDefinitions(last.definitions) }),
      this: readDefinitions(texts),
      next: readDefinitions(nextDefinitions(texts)),
    },
    functions: withNewNames(await loadFunctions()),
  };
};

/** The texts of the definitions, by machine. */
const readTexts = (): Map<string, string> => {
  const folder = new URL('statemachines/', root);
  const files = readdirSync(folder).filter((file) => file.endsWith('.asl.json'));
  return new Map(
    files.map((file) => [file.replace('.asl.json', ''), readFileSync(new URL(file, folder), 'utf8')]),
  );
};

const readDefinitions = (texts: ReadonlyMap<string, string>): Map<string, Definition> =>
  new Map([...texts].map(([machine, text]) => [machine, readDefinition(machine, text)]));

const loadFunctions = async (): Promise<Map<string, DeployedFunction>> => {
  const functions = new Map<string, DeployedFunction>();
  for (const kind of ['api', 'workflow', 'events', 'media']) {
    for (const file of readdirSync(new URL(`functions/${kind}/`, root))) {
      const stem = file.replace('.ts', '');
      if (NOT_SIMULATED.has(stem)) continue;
      const { handler } = (await import(new URL(`functions/${kind}/${file}`, root).href)) as {
        handler: Handler;
      };
      const name = `${kind}/${stem}`;
      const timeoutSeconds = TIMEOUT_SECONDS[name] ?? DEFAULT_TIMEOUT_SECONDS;
      functions.set(stem, { name, handler, timeoutSeconds });
    }
  }
  return functions;
};

interface SentCommand {
  constructor: { name: string };
  input: Record<string, unknown>;
}

type Send = (
  name: string,
  input: Record<string, unknown>,
  limits: ClientLimits,
  signal: AbortSignal | undefined,
) => Promise<unknown>;

/** Replaces what a client class sends with. */
const replaceSend = (client: { prototype: object }, send: Send): void => {
  Object.assign(client.prototype, {
    async send(this: object, command: SentCommand, options?: { abortSignal?: AbortSignal }) {
      return send(command.constructor.name, command.input, await limitsOf(this), options?.abortSignal);
    },
  });
};

/** The SDK looks for the bucket's endpoint in its settings files at the first upload: that takes real time, and is kept. */
const readSettings = async (): Promise<void> => {
  const client = Object.assign(new S3Client({ region: 'eu-west-1' }), { send: async () => ({}) });
  await new Upload({ client, params: { Bucket: 'bucket', Key: 'key', Body: Buffer.alloc(1) } }).done();
};

const standIn = (): void => {
  measureWithoutDisk();
  Object.assign(Metrics.prototype, {
    addMetric: (name: string, _unit: string, value: number): void => {
      const { metrics } = world();
      metrics.set(name, (metrics.get(name) ?? 0) + value);
    },
    addDimensions: () => undefined,
    publishStoredMetrics: () => undefined,
  });
  replaceSend(DynamoDBDocumentClient, (name, input, limits) => sendToTable(world(), name, input, limits));
  replaceSend(S3Client, (name, input, limits, signal) =>
    sendToBucket(world(), name, input, { ...limits, signal }),
  );
  replaceSend(SFNClient, (name, input, limits) => world().stepFunctions.send(name, input, limits));
  replaceSend(LambdaClient, (...call) => sendToLambda(world(), ...call));
  replaceSend(SecretsManagerClient, (name, input, limits) =>
    sendToSecrets(world(), name, input, limits, signingKey),
  );
};

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const signingKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
