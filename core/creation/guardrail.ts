import { ApplyGuardrailCommand, BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { clientOptions } from '../aws-clients.ts';
import { requiredEnv, userAgent } from '../environment.ts';

const client = new BedrockRuntimeClient({
  ...clientOptions('contentFilter'),
  customUserAgent: userAgent(),
  // The client defaults to HTTP/2, which one small request at a time does not need.
  requestHandler: new NodeHttpHandler(clientOptions('contentFilter').requestHandler),
});

/** The decision of the configured guardrail about a prompt. */
export const applyGuardrail = (prompt: string) =>
  client.send(
    new ApplyGuardrailCommand({
      guardrailIdentifier: requiredEnv('GUARDRAIL_ID'),
      guardrailVersion: requiredEnv('GUARDRAIL_VERSION'),
      source: 'INPUT',
      content: [{ text: { text: prompt } }],
    }),
  );
