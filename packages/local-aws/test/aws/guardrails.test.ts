import {
  ApplyGuardrailCommand,
  BedrockRuntimeClient,
  ConverseCommand,
  type GuardrailContentBlock,
} from '@aws-sdk/client-bedrock-runtime';
import { describe, expect, test } from '@jest/globals';
import { NodeHttpHandler } from '@smithy/node-http-handler';

import {
  ACCOUNT,
  allow,
  aPrincipal,
  clientsOf,
  endpointOptions,
  NO_TABLES,
  OPERATOR,
  REGION,
  rejectionOf,
} from './support.ts';
import { useEndpoint } from './use-endpoint.ts';

const GUARDRAIL = 'gr5k2';
const ARN = `arn:aws:bedrock:${REGION}:${ACCOUNT}:guardrail/${GUARDRAIL}`;

const options = endpointOptions(NO_TABLES);
const endpoint = useEndpoint(options);

/** A client over HTTP/1.1; the SDK's default is HTTP/2. */
const clientOf = (caller = OPERATOR): BedrockRuntimeClient =>
  new BedrockRuntimeClient({
    ...clientsOf(endpoint, caller).settings,
    requestHandler: new NodeHttpHandler(),
  });

const apply = (content: GuardrailContentBlock[], guardrailIdentifier = GUARDRAIL) =>
  new ApplyGuardrailCommand({ guardrailIdentifier, guardrailVersion: 'DRAFT', source: 'INPUT', content });
const judge = (...texts: string[]) =>
  clientOf().send(apply(texts.map((text): GuardrailContentBlock => ({ text: { text } }))));

const TOPIC = { name: 'denied', type: 'DENY', action: 'BLOCKED' };
const PERSONAL = { type: 'NAME', match: 'somebody', action: 'ANONYMIZED' };

describe('a guardrail', () => {
  test.each(['a lighthouse', '', '[guardrail=unknown]', 'guardrail=block'])(
    'lets “%s” pass',
    async (text) => {
      const { action, outputs, assessments, usage } = await judge(text);

      expect({ action, outputs, assessments }).toEqual({ action: 'NONE', outputs: [], assessments: [{}] });
      expect(usage).toMatchObject({ topicPolicyUnits: 1 });
    },
  );

  test('blocks a text with its directive, and names the policy', async () => {
    const { action, outputs, assessments } = await judge('a weapon [guardrail=block]');

    expect({ action, outputs }).toEqual({ action: 'GUARDRAIL_INTERVENED', outputs: [{ text: 'Blocked.' }] });
    expect(assessments).toEqual([{ topicPolicy: { topics: [TOPIC] } }]);
  });

  test('masks a text with its directive, and blocks nothing', async () => {
    const { action, outputs, assessments } = await judge('somebody [guardrail=mask]');

    expect({ action, outputs }).toEqual({
      action: 'GUARDRAIL_INTERVENED',
      outputs: [{ text: 'somebody [guardrail=mask]' }],
    });
    expect(assessments).toEqual([{ sensitiveInformationPolicy: { piiEntities: [PERSONAL], regexes: [] } }]);
  });

  test('blocks and masks with both directives', async () => {
    const { outputs, assessments } = await judge('[guardrail=mask]', '[guardrail=block]');

    expect(outputs).toEqual([{ text: 'Blocked.' }]);
    expect(assessments).toEqual([
      {
        topicPolicy: { topics: [TOPIC] },
        sensitiveInformationPolicy: { piiEntities: [PERSONAL], regexes: [] },
      },
    ]);
  });

  test('accepts text only', async () => {
    const image = { image: { format: 'png', source: { bytes: new Uint8Array([1]) } } } as const;

    expect(await rejectionOf(clientOf().send(apply([image])))).toMatchObject({
      name: 'ValidationException',
      $metadata: { httpStatusCode: 400 },
    });
  });
});

describe('permission to apply a guardrail', () => {
  test('is per guardrail; allowed calls are counted', async () => {
    const creator = aPrincipal('creator', allow(['bedrock:ApplyGuardrail'], ARN));
    endpoint.addPrincipals([creator]);
    const text = [{ text: { text: 'a lighthouse' } }];

    await clientOf(creator).send(apply(text));
    const other = clientOf(creator).send(apply(text, 'another'));

    expect(await rejectionOf(other)).toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringContaining('is not authorized to perform: bedrock:ApplyGuardrail'),
      $metadata: { httpStatusCode: 403 },
    });
    expect(endpoint.calls().creator).toEqual({ 'bedrock:ApplyGuardrail': 1 });
  });
});

test('covers no other call of the service', async () => {
  const refused = clientOf().send(new ConverseCommand({ modelId: 'a-model', messages: [] }));

  expect(await rejectionOf(refused)).toMatchObject({
    name: 'UnknownOperationException',
    $metadata: { httpStatusCode: 404 },
  });
});
