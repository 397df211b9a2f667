import type { Node } from 'constructs';
import { z } from 'zod';
import { FILTER_SLOTS } from '../core/creation/content-filter.ts';
import { findModel } from '../core/models/catalog.ts';
import { MAX_RUNNING, ModelRoutes } from '../core/provider-calls/model-routes.ts';
import { namesOfProvider, PROVIDER_IDS, type ProviderNames } from '../core/provider-names.ts';
import { isTooLong } from '../core/webhooks/webhook-rules.ts';
import { ContextError } from './context-error.ts';
import { number, numberOf, wholeNumber, wholeNumbers } from './context-numbers.ts';
import { contradictionsIn, problemsOfRoutes } from './context-rules.ts';
import { nearestName } from './nearest-name.ts';
import { allRoutes, OwnModels, problemsOfOwnModels } from './own-models.ts';
import { BOUNDARY_KEY, permissionsBoundary } from './permissions-boundary.ts';
import { providerAccounts, unknownAccountsIn } from './provider-accounts.ts';

const flag = z
  .union([z.boolean(), z.enum(['true', 'false'])])
  .transform((value) => value === true || value === 'true');
/** A published version's number or the working draft, as `ApplyGuardrail` takes it. */
const guardrailVersion = z.coerce
  .string()
  .regex(/^(DRAFT|[1-9]\d{0,7})$/, 'Expected DRAFT or the number of a version');
/** Pauses between attempts, in seconds and in order: at most 20, each at most a day, and done before the execution times out. */
const retrySeconds = z.coerce
  .string()
  .regex(/^\d{1,5}(,\d{1,5}){0,19}$/, 'Expected whole seconds, separated by commas')
  .refine((text) => text.split(',').every((pause) => Number(pause) <= 86_400), 'Expected at most 86400 each')
  .refine(
    (text) => !isTooLong(text.split(',').map(Number)),
    'Expected at most 13 days together, with 10 % of jitter',
  );
const domainName = z
  .string()
  .regex(
    /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
    'Expected a domain name in lower case',
  );
const certificateArn = z
  .string()
  .regex(/^arn:aws:acm:[a-z0-9-]+:\d{12}:certificate\/[0-9a-f-]+$/, 'Expected the ARN of an ACM certificate');
/** Sent in a header, between brackets. */
const headerUrl = z
  .url()
  .regex(/^https?:\/\/[!-'*-~]{1,200}$/, 'Expected a URL of at most 200 ASCII characters, without brackets');
/** Paths are appended to it. */
const baseUrl = z
  .string()
  .refine(
    (text) => /^https?:\/\/[^\s?#@\\/][^\s?#@\\]*$/i.test(text) && URL.canParse(text),
    'Expected an http or https URL without query, fragment and user',
  )
  // Hosts in lower case, as browsers and signatures of file URLs have them.
  .transform((url) => new URL(url).href.replace(/\/+$/, ''));
/** The address of each provider, by its context key. */
const providerAddresses = Object.fromEntries(
  PROVIDER_IDS.map((id) => [namesOfProvider(id).baseUrlContextKey, baseUrl]),
) as Record<ProviderNames['baseUrlContextKey'], typeof baseUrl>;
/** The address that each provider had before. */
const previousBaseUrl = baseUrl.optional();
const previousAddresses = Object.fromEntries(
  PROVIDER_IDS.map((id) => [namesOfProvider(id).previousBaseUrlContextKey, previousBaseUrl]),
) as Record<ProviderNames['previousBaseUrlContextKey'], typeof previousBaseUrl>;
const json = <Schema extends z.core.$ZodType>(schema: Schema) =>
  z.preprocess((value, context) => {
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      context.addIssue(`Invalid JSON: ${error.message}`);
      return z.NEVER;
    }
  }, schema);

/** As `CreateTable` takes it. */
const tableName = z
  .string()
  .regex(
    /^[A-Za-z0-9_.-]{3,255}$/,
    'Expected the name of a table: 3 to 255 letters, digits, dots, hyphens and underscores',
  );
/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const bucketName = z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'Expected the name of a bucket');
const awsAccountId = z.coerce.string().regex(/^\d{12}$/, 'Expected the 12 digits of an AWS account');

/**
 * Retention periods that CloudWatch Logs takes:
 * https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
 */
const LOG_RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653];

/** Functions that wait for servers of others or for images, or that requests cannot go on without. */
const RESERVABLE = [
  'reconcile',
  'settle-request',
  'fail-request',
  'deliver-webhook',
  'dispatch-request',
  'measure-clips',
  'create-openai-image',
  'edit-openai-image',
] as const;

/** Maximum for a synchronous provider call: Lambda's limit is 15 min. */
const MAX_SYNCHRONOUS_SECONDS = 840;

/** API Gateway ends a streamed response after 5 min of silence. */
const MAX_STREAM_SILENCE_SECONDS = 240;

/** The slots of an account are one item of the table. */
const MAX_WAITING = 100;

/** Maximum for a video, and for the time in the queue before it: an execution, which also starts late at worst and stores it, has 5 h. */
const MAX_VIDEO_SECONDS = 5400;
const MAX_QUEUE_SECONDS = 7200;

/**
 * All context keys with their defaults. Operators set them with `-c key=value`, for `cdk deploy` and the local run
 * alike.
 */
export const StackContext = z
  .object({
    stackName: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9-]{0,29}$/, 'Expected at most 30 letters, digits and hyphens')
      .default('GenerationService'),
    outputTtlSeconds: wholeNumber(1, 30 * 86_400).default(82_800),
    retentionDays: number(0, 3650).default(90),
    pauseSeconds: wholeNumber(1, 3600).default(180),
    // Fewer than prompts that are judged at once would refuse the first creations of an hour.
    refusedWorkPerHour: wholeNumber(FILTER_SLOTS, 1_000_000).default(60),
    imageDeadlineSeconds: wholeNumber(1, MAX_SYNCHRONOUS_SECONDS).default(600),
    videoDeadlineSeconds: wholeNumber(1, MAX_VIDEO_SECONDS).default(3600),
    queueDeadlineSeconds: wholeNumber(1, MAX_QUEUE_SECONDS).default(3600),
    pollIntervalSeconds: wholeNumber(1, 300).default(2),
    callbackWaitSeconds: wholeNumber(1, 3600).default(300),
    reconcileIntervalSeconds: wholeNumber(1, 3600).default(60),
    reconcilerMemory: wholeNumber(256, 10_240).default(256),
    webhookRetrySeconds: retrySeconds.default('5,300,1800,7200,18000,36000,50400,72000,86400'),
    reservedConcurrency: json(z.partialRecord(z.enum(RESERVABLE), z.int().min(1).max(100_000))).optional(),
    publicBaseUrl: baseUrl.optional(),
    deliveryBaseUrl: baseUrl.optional(),
    // Of key pairs; CloudFront trusts at most five in a group.
    signingKeys: wholeNumbers(1, 999, 5).default([1]),
    allowPrivateTargets: flag.default(false),
    userAgentUrl: headerUrl.optional(),
    publishRates: flag.default(false),
    guardrailId: z
      .string()
      .regex(/^[a-z0-9]+$/, 'Expected the id of a guardrail')
      .optional(),
    guardrailVersion: guardrailVersion.default('DRAFT'),
    alarmEmail: z.email().optional(),
    canary: z.string().optional(),
    apiDomainName: domainName.optional(),
    apiCertificateArn: certificateArn.optional(),
    filesDomainName: domainName.optional(),
    filesCertificateArn: certificateArn.optional(),
    apiRequestsPerSecond: wholeNumber(1, 10_000).default(1_000),
    deliveredGigabytesPerHour: wholeNumber(1, 1_000_000).default(100),
    apiBurst: wholeNumber(1, 5_000).default(2_000),
    accessLogs: flag.default(true),
    executionLogs: flag.default(false),
    tracing: flag.default(false),
    logRetentionDays: numberOf(LOG_RETENTION_DAYS).default(30),
    // Below, a new table takes it anyway; above, the quota of a table ends.
    warmThroughput: wholeNumber(4_001, 40_000).optional(),
    removalPolicy: z.enum(['keep', 'destroy']).default('keep'),
    tableName: tableName.optional(),
    exportBucket: bucketName.optional(),
    exportBucketOwner: awsAccountId.optional(),
    wafRequestsPer5Minutes: wholeNumber(10, 2_000_000_000).optional(),
    filesWebAclArn: z
      .string()
      .regex(
        /^arn:aws:wafv2:us-east-1:\d{12}:global\/webacl\/[\w-]{1,128}\/[0-9a-f-]+$/,
        'Expected the ARN of a web ACL of scope CLOUDFRONT',
      )
      .optional(),
    console: flag.default(false),
    openaiSurface: flag.default(true),
    openaiWaitSeconds: wholeNumber(1, MAX_STREAM_SILENCE_SECONDS).default(240),
    openaiWaiting: wholeNumber(1, MAX_WAITING).default(10),
    openaiWaitingInAll: wholeNumber(1, 100_000).optional(),
    aiMarking: z.enum(['none', 'visible']).default('none'),
    providers: z.enum(['real', 'sandbox']).default('real'),
    sandboxMaxRunning: wholeNumber(1, 10_000).optional(),
    ...providerAddresses,
    ...previousAddresses,
    providerAccounts: json(providerAccounts(baseUrl)),
    modelRoutes: json(ModelRoutes),
    models: z.preprocess((given) => given ?? [], json(OwnModels)),
    maxRunning: wholeNumber(1, MAX_RUNNING).optional(),
    [BOUNDARY_KEY]: permissionsBoundary,
  })
  .check((given) => {
    const { models, providerAccounts: accounts } = given.value;
    for (const [path, message] of problemsOfOwnModels(models, given.value)) {
      given.issues.push({ code: 'custom', path: ['models', ...path], message, input: given.value });
    }
    const modelRoutes = allRoutes(given.value.modelRoutes, models);
    const problems = [
      ...problemsOfRoutes(modelRoutes, models),
      ...unknownAccountsIn(given.value.modelRoutes, accounts),
    ];
    for (const message of problems) {
      given.issues.push({ code: 'custom', path: ['modelRoutes'], message, input: given.value });
    }
    const { canary } = given.value;
    const canaryModel = models.find(({ id }) => id === canary) ?? findModel(canary ?? '');
    if (canary !== undefined && (canaryModel?.type !== 'image' || !Object.hasOwn(modelRoutes, canary))) {
      const message = 'Expected an image model with a route';
      given.issues.push({ code: 'custom', path: ['canary'], message, input: canary });
    }
    for (const [key, message] of contradictionsIn(given.value)) {
      given.issues.push({ code: 'custom', path: [key], message, input: given.value });
    }
  });
/** The validated context. `readContext` adds the routes of own models to `modelRoutes`. */
export type StackContext = z.infer<typeof StackContext>;

/**
 * Keys that the CDK sets, or keeps in `cdk.json`: feature flags, settings of its command line, and cached
 * look-ups in an account.
 */
const KEY_OF_CDK = /[@:]|^cdk-|^acknowledged-issue-numbers$/;

/**
 * A key that nothing reads is a mistake: `-c alarmemail=…` would deploy a stack with alarms that notify no
 * address.
 */
const unknownKeysIn = (keys: readonly string[]): z.core.$ZodIssue[] => {
  const known = Object.keys(StackContext.shape);
  return keys
    .filter((key) => !known.includes(key) && !KEY_OF_CDK.test(key))
    .map((key) => {
      const nearest = nearestName(key, known);
      const advice = nearest ? `did you mean ${nearest}?` : 'docs/configuring.md has all keys';
      return { code: 'custom', path: [key], message: `Unknown key: ${advice}`, input: key };
    });
};

/**
 * The validated context of a CDK app. Throws a `ContextError`, which names the keys, for unknown keys and invalid values. The
 * sandbox together with the providers' own keys is refused too: one of the two is a mistake.
 */
export const readContext = (
  node: Node,
  environment: Record<string, string | undefined> = process.env,
): StackContext => {
  const given = Object.fromEntries(
    Object.keys(StackContext.shape).map((key) => [key, node.tryGetContext(key) ?? undefined]),
  );
  const result = StackContext.safeParse(given);
  const unknown = unknownKeysIn(Object.keys(node.getAllContext()));
  if (!result.success || unknown.length > 0) {
    throw new ContextError([...(result.error?.issues ?? []), ...unknown]);
  }
  const realKeys = PROVIDER_IDS.map((id) => namesOfProvider(id).keyVariable).filter(
    (name) => environment[name],
  );
  if (result.data.providers === 'sandbox' && realKeys.length > 0) {
    const message = `The sandbox takes no real keys: unset ${realKeys.join(' and ')}`;
    throw new ContextError([{ message, path: ['providers'] }]);
  }
  const { data } = result;
  return { ...data, modelRoutes: allRoutes(data.modelRoutes, data.models) };
};
