import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApplyGuardrailCommand, BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { newKey, revokeApiKey } from '../../../core/accounts/api-keys.ts';
import { accountLimit, takeSlot } from '../../../core/concurrency/in-flight.ts';
import { idempotencyOf } from '../../../core/creation/idempotency.ts';
import { MEASURING_SLOTS } from '../../../core/creation/measured-creation.ts';
import { currentModelSettings } from '../../../core/models/model-settings.ts';
import { type ItemKey, idempotencyKey, pauseKey } from '../../../core/table/keys.ts';
import { handler as createVideo } from '../../../functions/api/create-video.ts';
import { handler as getVideo } from '../../../functions/api/get-video.ts';
import { handler as measureClips } from '../../../functions/media/measure-clips.ts';
import { aVideo } from '../../../packages/media/test/videos.ts';
import { ROOT } from '../architecture/source-graph.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { aVideoBody } from '../builders/bodies.ts';
import { aCaller } from '../builders/callers.ts';
import { NOW } from '../builders/clocks.ts';
import { ACCOUNT_ID, anEndUser, EMAIL, putEndUser, VIDEO_ID } from '../builders/entities.ts';
import { withEnvironment } from '../builders/environment.ts';
import { RouteWorld } from '../builders/route-world.ts';
import { MemoryBucket } from '../fakes/memory-bucket.ts';
import { MemoryFunctions } from '../fakes/memory-functions.ts';
import { LoopbackServer } from '../servers/loopback-server.ts';

const world = new RouteWorld();
const { memory, secrets } = world;
const functions = new MemoryFunctions();
functions.set(process.env.MEASURE_CLIPS_FUNCTION_ARN ?? '', measureClips);
const bedrock = mockClient(BedrockRuntimeClient);
const bucket = new MemoryBucket();
const clips = await new LoopbackServer().start();
const clip = await aVideo({ seconds: 3 });
afterAll(() => clips.close());
beforeEach(() => {
  world.reset();
  functions.reset();
  bucket.reset();
  clips.reset();
  bedrock.reset();
  bedrock.on(ApplyGuardrailCommand).resolves({ action: 'NONE', assessments: [] } as never);
});

const READ_UNIT_BYTES = 4_096;
const WRITE_UNIT_BYTES = 1_024;
const units = (key: ItemKey, unitBytes: number): number =>
  Math.max(1, Math.ceil(JSON.stringify(memory.get(key) ?? {}).length / unitBytes));

/** The table calls of a request by operation, and their units: an absent item costs one, and so does a refused update. */
const costs = () => {
  let [reads, writes] = [0, 0];
  for (const { args } of memory.client.calls()) {
    const { input } = args[0] as {
      input: { Key?: ItemKey; RequestItems?: Record<string, { Keys: ItemKey[] }> };
    };
    const keys = input.Key
      ? [input.Key]
      : Object.values(input.RequestItems ?? {}).flatMap(({ Keys }) => Keys);
    const isWrite = args[0].constructor.name === 'UpdateCommand';
    const sum = keys.reduce((all, key) => all + units(key, isWrite ? WRITE_UNIT_BYTES : READ_UNIT_BYTES), 0);
    if (isWrite) writes += sum;
    else reads += sum;
  }
  const calls = Object.entries(memory.calls()).map(
    ([name, count]) => `${count} ${name.replace('Command', 'Item')}`,
  );
  return { calls: calls.join(', ') || 'none', reads, writes };
};

interface Situation {
  caller?: Parameters<typeof aCaller>[1];
  body?: Record<string, unknown>;
  /** Makes what refuses the request; may replace the caller's headers. */
  given?: (keyId: string) => unknown;
  key?: () => string;
}

const filled = async () => {
  const limit = accountLimit('clips', ACCOUNT_ID, { slots: MEASURING_SLOTS, leaseSeconds: 25 });
  while (await takeSlot(limit, world.now));
};
const block = () => bedrock.on(ApplyGuardrailCommand).resolves({ action: 'GUARDRAIL_INTERVENED' } as never);
const usedKey = () => {
  const { keyDigest } = idempotencyOf('key-1', '', {});
  const keptUntil = new Date(world.now.getTime() + 1_000).toISOString();
  memory.put(idempotencyKey(ACCOUNT_ID, keyDigest), { fingerprint: 'x', requestId: VIDEO_ID, keptUntil });
};
const pause = () =>
  memory.put(pauseKey({ accountId: ACCOUNT_ID, email: EMAIL, model: 'xW3.0s' }), {
    until: new Date(world.now.getTime() + 60_000).toISOString(),
  });
const cents = (xTokens: number) => ({ account: { balanceThousandths: xTokens * 1_000 } });

interface Costs {
  calls: string;
  reads: number;
  writes: number;
}
const NOTHING: Costs = { calls: 'none', reads: 0, writes: 0 };
const KEY: Costs = { calls: '1 UpdateItem, 1 GetItem', reads: 1, writes: 1 };
const KEY_AND = (reads: number): Costs => ({ ...KEY, calls: `${KEY.calls}, 1 BatchGetItem`, reads });
const FILTERED: Costs = { calls: '3 UpdateItem, 1 GetItem, 1 BatchGetItem', reads: 4, writes: 3 };
const MEASURED = (reads: number, writes: number): Costs => ({
  calls: `${writes} UpdateItem, ${reads - 3} GetItem, 1 BatchGetItem`,
  reads,
  writes,
});

/** Every refusal of a creation of a video with one reference video, in order, with its calls of the table and their units. */
const OUTCOMES: [string, Costs, Situation][] = [
  ['401 `unauthorized`: no key, or a wrong checksum', NOTHING, { key: () => 'gsk_x' }],
  ['401 `unauthorized`: a forged key', KEY, { key: () => newKey(ACCOUNT_ID).text }],
  ['401 `unauthorized`: a revoked key', KEY, { given: (keyId) => revokeApiKey(keyId, world.now) }],
  ['401 `account_blocked`', KEY, { caller: { account: { blockedAt: NOW.toISOString() } } }],
  ['403 `forbidden`: the scope', KEY, { caller: { scopes: [] } }],
  ['429 `rate_limited`: the rate', KEY, { caller: { isExhausted: true } }],
  ['400 `validation_error`', KEY_AND(3), { body: { prompt: '' } }],
  ['409 `conflict`: the key was used with another body', KEY_AND(4), { given: usedKey }],
  [
    '403 `forbidden`: the end-user is blocked',
    KEY_AND(4),
    { given: () => putEndUser(memory, anEndUser({ blockedAt: 'x' })) },
  ],
  [
    '409 `conflict`: the end-user is being removed',
    KEY_AND(4),
    { given: () => putEndUser(memory, anEndUser({ deletingAt: 'x' })) },
  ],
  ['503 `temporarily_unavailable`', KEY_AND(4), { given: pause }],
  ['402 `payment_required`: the output alone', KEY_AND(4), { caller: cents(49) }],
  ['422 `content_policy`', FILTERED, { given: block }],
  ['429 `rate_limited`: too many clips being measured', MEASURED(4, 4), { given: filled }],
  ['400 `validation_error`: the clip', MEASURED(4, 7), { given: () => clips.answer(404, {}) }],
  ['402 `payment_required`: with the clip', MEASURED(5, 7), { caller: cents(79) }],
];

const GUARDRAIL = { GUARDRAIL_ID: 'guardrail', GUARDRAIL_VERSION: '1', ALLOW_PRIVATE_TARGETS: 'true' };
const document = readFileSync(join(ROOT, 'docs/performance.md'), 'utf8');

test.each(OUTCOMES)(
  'a creation refused with %s makes these calls of the table, and no others',
  async (outcome, expected, situation) => {
    clips.respond = (_, response) => response.writeHead(200).end(clip);
    const { keyId, headers } = await aCaller(memory, situation.caller);
    await situation.given?.(keyId);
    await currentModelSettings(world.now);
    const authorization = situation.key ? { Authorization: `Bearer ${situation.key()}` } : headers;
    memory.client.resetHistory();
    const body = aVideoBody({ referenceVideos: [`${clips.url}/clip.mp4`], ...situation.body });
    const { status, body: answer } = await withEnvironment(GUARDRAIL, async () =>
      read(
        await createVideo(
          anApiEvent({ headers: { ...authorization, 'Idempotency-Key': 'key-1' }, body }),
          aLambdaContext(),
        ),
      ),
    );

    expect(outcome).toContain(`${status} \`${answer.error?.code}\``);
    expect(costs()).toEqual(expected);
    expect(memory.transactions).toEqual([]);
    expect([...bucket.objects.keys()]).toEqual([]);
  },
);

test('docs/performance.md says what the dearest refused creation costs', () => {
  const most = (of: 'reads' | 'writes') => Math.max(...OUTCOMES.map(([, costs]) => costs[of]));

  expect(document).toContain(`at most ${most('reads')} read units and ${most('writes')} write units`);
});

test('a read with a forged key costs what docs/performance.md says', async () => {
  const authorization = { Authorization: `Bearer ${newKey(ACCOUNT_ID).text}` };
  secrets.set('arn:delivery-key', 'key');
  await getVideo(
    anApiEvent({ headers: authorization, pathParameters: { requestId: VIDEO_ID } }),
    aLambdaContext(),
  );

  const { reads, writes } = costs();
  expect(document).toContain(`\`GET /v1/videos/{requestId}\` ${reads} read units and ${writes} write unit`);
});
