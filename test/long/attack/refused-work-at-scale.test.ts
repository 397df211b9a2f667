import '../../unit/builders/environment.ts';
import { ApplyGuardrailCommand, BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { handler as measureClips } from '../../../functions/media/measure-clips.ts';
import { aGenerationBody, aVideoBody } from '../../unit/builders/bodies.ts';
import { aCaller } from '../../unit/builders/callers.ts';
import { NOW } from '../../unit/builders/clocks.ts';
import { withEnvironment } from '../../unit/builders/environment.ts';
import { stopTime } from '../../unit/builders/stop-time.ts';
import { MemoryFunctions } from '../../unit/fakes/memory-functions.ts';
import { LoopbackServer } from '../../unit/servers/loopback-server.ts';
import { memory, reset, send } from './service.ts';

/** What a caller tries, and may do for nothing in an hour. */
const ATTEMPTS = 200;
const ALLOWED = 60;
const FILE_BYTES = 5 * 1024 * 1024;

const bedrock = mockClient(BedrockRuntimeClient);
const functions = new MemoryFunctions();
functions.set(process.env.MEASURE_CLIPS_FUNCTION_ARN ?? '', measureClips);
const server = await new LoopbackServer().start();
afterAll(() => server.close());

beforeEach(() => {
  reset();
  stopTime(NOW);
  functions.reset();
  server.reset();
  bedrock.reset();
});

const attack = async (
  name: 'create-generation' | 'create-video',
  body: object,
  balanceThousandths: number,
) => {
  const { headers } = await aCaller(memory, { account: { balanceThousandths } });
  const codes: Record<string, number> = {};
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { body: answer } = await send(name, { headers, body });
    const code = answer.error?.code ?? 'accepted';
    codes[code] = (codes[code] ?? 0) + 1;
  }
  expect(memory.transactions).toEqual([]);
  return codes;
};

test('a caller who can pay for one image has 60 of the largest prompts judged in an hour, and no more', async () => {
  bedrock.on(ApplyGuardrailCommand).resolves({ action: 'GUARDRAIL_INTERVENED' } as never);

  const codes = await withEnvironment({ GUARDRAIL_ID: 'guardrail', GUARDRAIL_VERSION: '1' }, () =>
    attack('create-generation', aGenerationBody({ prompt: '🌊'.repeat(2_000) }), 6_000),
  );

  expect(codes).toEqual({ content_policy: ALLOWED, rate_limited: ATTEMPTS - ALLOWED });
  expect(bedrock.calls()).toHaveLength(ALLOWED);
});

test('a caller who can pay for one video has the clips of 60 refused creations fetched in an hour, and no more', async () => {
  server.respond = (_, response) => response.writeHead(200).end(Buffer.alloc(FILE_BYTES));
  const body = aVideoBody({
    resolution: '480p',
    durationSec: 2,
    referenceVideos: Array.from({ length: 5 }, (_, index) => `${server.url}/${index}.mp4`),
  });

  const codes = await withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, () =>
    attack('create-video', body, 6_000),
  );

  expect(codes).toEqual({ validation_error: ALLOWED, rate_limited: ATTEMPTS - ALLOWED });
  expect(server.requests).toHaveLength(ALLOWED * 5);
});
