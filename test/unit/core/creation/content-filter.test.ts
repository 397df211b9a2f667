import {
  ApplyGuardrailCommand,
  type ApplyGuardrailCommandOutput,
  BedrockRuntimeClient,
} from '@aws-sdk/client-bedrock-runtime';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { FILTER_SLOTS, screenPrompt } from '../../../../core/creation/content-filter.ts';
import { ServiceError } from '../../../../core/errors.ts';
import { table } from '../../../../core/table/table.ts';
import { anAccount } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
const bedrock = mockClient(BedrockRuntimeClient);
beforeEach(() => {
  memory.reset();
  bedrock.reset();
});

const CONFIGURED = { GUARDRAIL_ID: 'guardrail', GUARDRAIL_VERSION: '3' };
const screen = (prompt = 'a lighthouse') =>
  withEnvironment(CONFIGURED, () => screenPrompt(anAccount(), prompt));
const answering = (answer: object) =>
  bedrock.on(ApplyGuardrailCommand).resolves(answer as ApplyGuardrailCommandOutput);
const INTERVENED = 'GUARDRAIL_INTERVENED';

describe('the content filter', () => {
  test('calls the configured guardrail once, with the unchanged prompt', async () => {
    answering({ action: 'NONE', assessments: [] });

    await screen('ünïcode 🌊');

    expect(bedrock.commandCalls(ApplyGuardrailCommand).map(({ args }) => args[0].input)).toEqual([
      {
        guardrailIdentifier: 'guardrail',
        guardrailVersion: '3',
        source: 'INPUT',
        content: [{ text: { text: 'ünïcode 🌊' } }],
      },
    ]);
  });

  test.each<[string, object]>([
    ['topicPolicy', { topics: [{ name: 'x', type: 'DENY', action: 'BLOCKED' }] }],
    ['contentPolicy', { filters: [{ type: 'VIOLENCE', confidence: 'HIGH', action: 'BLOCKED' }] }],
    ['wordPolicy', { customWords: [{ match: 'x', action: 'BLOCKED' }] }],
    ['wordPolicy', { managedWordLists: [{ match: 'x', type: 'PROFANITY', action: 'BLOCKED' }] }],
    ['sensitiveInformationPolicy', { piiEntities: [{ match: 'x', type: 'EMAIL', action: 'BLOCKED' }] }],
    ['sensitiveInformationPolicy', { regexes: [{ name: 'x', action: 'BLOCKED' }] }],
    ['contextualGroundingPolicy', { filters: [{ type: 'RELEVANCE', action: 'BLOCKED' }] }],
    ['aPolicyOfTomorrow', { findings: { first: { action: 'BLOCKED' } } }],
  ])('refuses what the %s blocks: %j', async (policy, findings) => {
    const masked = { sensitiveInformationPolicy: { piiEntities: [{ type: 'NAME', action: 'ANONYMIZED' }] } };
    answering({ action: INTERVENED, assessments: [masked, { [policy]: findings }] });

    await expect(screen()).rejects.toMatchObject({ name: 'ServiceError', code: 'content_policy' });
  });

  test('refuses when the guardrail intervened without saying why', async () => {
    answering({ action: INTERVENED, assessments: [] });
    await expect(screen()).rejects.toMatchObject({ code: 'content_policy' });

    answering({ action: INTERVENED });
    await expect(screen()).rejects.toMatchObject({ code: 'content_policy' });
  });

  test.each<[string, object]>([
    ['nothing was found', { action: 'NONE', assessments: [{}] }],
    [
      'personal data was masked',
      {
        action: INTERVENED,
        assessments: [
          {
            sensitiveInformationPolicy: {
              piiEntities: [{ match: 'BLOCKED', type: 'NAME', action: 'ANONYMIZED' }],
              regexes: [{ name: 'BLOCKED', action: 'ANONYMIZED' }],
            },
          },
        ],
      },
    ],
    [
      'a filter only watches',
      {
        action: 'NONE',
        assessments: [{ contentPolicy: { filters: [{ type: 'VIOLENCE', action: 'NONE', detected: true }] } }],
      },
    ],
    [
      'a filter that does not act found something',
      { action: 'NONE', assessments: [{ wordPolicy: { customWords: [{ action: 'BLOCKED' }] } }] },
    ],
  ])('lets a prompt pass when %s', async (_, answer) => {
    answering(answer);

    await expect(screen()).resolves.toBe(true);
  });

  test.each(['ThrottlingException', 'AccessDeniedException', 'ValidationException', 'TimeoutError'])(
    'that fails with %s decides nothing: the error is nobody’s content',
    async (name) => {
      const error = Object.assign(new Error('no guardrail'), { name });
      bedrock.on(ApplyGuardrailCommand).rejects(error);

      const found = await screen().catch((thrown) => thrown);

      expect(found).toBe(error);
      expect(found).not.toBeInstanceOf(ServiceError);
    },
  );

  test('judges few prompts of an account at once, and tells the others when to come back', async () => {
    const held: (() => void)[] = [];
    bedrock
      .on(ApplyGuardrailCommand)
      .callsFake(
        () => new Promise((resolve) => held.push(() => resolve({ action: 'NONE', assessments: [] }))),
      );
    const judge = () => screenPrompt(anAccount(), 'a lighthouse');
    await withEnvironment(CONFIGURED, async () => {
      const judged = Array.from({ length: FILTER_SLOTS }, judge);
      while (held.length < FILTER_SLOTS) await new Promise(setImmediate);

      await expect(judge()).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
      expect(bedrock.calls()).toHaveLength(FILTER_SLOTS);
      for (const answer of held) answer();
      await Promise.all(judged);
    });

    answering({ action: 'NONE', assessments: [] });
    await expect(screen()).resolves.toBe(true);
  });

  test('is told who calls, besides the SDK', async () => {
    answering({ action: 'NONE', assessments: [] });
    await screen();

    const [client] = bedrock.send.thisValues as BedrockRuntimeClient[];
    expect(JSON.stringify(client?.config.customUserAgent)).toContain('generation-service/1.2.3');
  });

  test('that fails frees its slot', async () => {
    bedrock.on(ApplyGuardrailCommand).rejects(new Error('no guardrail'));
    for (let call = 0; call < FILTER_SLOTS + 5; call++) {
      await expect(screen()).rejects.toThrow('no guardrail');
    }
  });

  test('that is not configured calls nothing', async () => {
    await expect(screenPrompt(anAccount(), 'anything')).resolves.toBe(false);
    await withEnvironment({ GUARDRAIL_ID: '' }, () => screenPrompt(anAccount(), 'anything'));

    expect(bedrock.calls()).toHaveLength(0);
  });
});
