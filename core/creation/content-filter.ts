import { clientOptions } from '../aws-clients.ts';
import { requiredEnv } from '../environment.ts';
import { ServiceError } from '../errors.ts';

/**
 * Refuses a prompt that must not be sent to a provider: throws `ServiceError` with `content_policy`. A failure
 * of the filter itself is an ordinary error, so that callers never see a refusal that did not happen.
 *
 * Amazon Bedrock Guardrails decides when a guardrail is configured. Otherwise every prompt passes, and a
 * provider's own refusal appears in the record.
 */
export const screenPrompt = async (prompt: string): Promise<void> => {
  if (!process.env.GUARDRAIL_ID) return;
  if (await isBlocked(prompt)) {
    throw new ServiceError('content_policy', 'The content filter refused the prompt.');
  }
};

/** Loads the client, which is large, only when a guardrail is configured. */
const loadGuardrail = async () => {
  const [{ ApplyGuardrailCommand, BedrockRuntimeClient }, { NodeHttpHandler }] = await Promise.all([
    import('@aws-sdk/client-bedrock-runtime'),
    import('@smithy/node-http-handler'),
  ]);
  const client = new BedrockRuntimeClient({
    ...clientOptions('contentFilter'),
    // The client defaults to HTTP/2, which one small request at a time does not need.
    requestHandler: new NodeHttpHandler(clientOptions('contentFilter').requestHandler),
  });
  return (prompt: string) =>
    client.send(
      new ApplyGuardrailCommand({
        guardrailIdentifier: requiredEnv('GUARDRAIL_ID'),
        guardrailVersion: requiredEnv('GUARDRAIL_VERSION'),
        source: 'INPUT',
        content: [{ text: { text: prompt } }],
      }),
    );
};
let guardrail: ReturnType<typeof loadGuardrail> | undefined;

const isBlocked = async (prompt: string): Promise<boolean> => {
  guardrail ??= loadGuardrail();
  const { action, assessments = [] } = await (await guardrail)(prompt);
  // A guardrail also intervenes to mask personal data, which does not refuse the content.
  return action === 'GUARDRAIL_INTERVENED' && (assessments.length === 0 || hasBlock(assessments));
};

/** Whether any assessment says BLOCKED. Walks all of them: policies differ in shape, and AWS keeps adding new ones. */
const hasBlock = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.some(hasBlock);
  if (value === null || typeof value !== 'object') return false;
  return Object.entries(value).some(([name, nested]) =>
    name === 'action' ? nested === 'BLOCKED' : hasBlock(nested),
  );
};
