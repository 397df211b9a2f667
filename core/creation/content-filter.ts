import { requiredEnv } from '../environment.ts';
import { ServiceError } from '../errors.ts';

/**
 * Decides whether a prompt may be sent to a provider. Throws `ServiceError` with `content_policy` for a real
 * decision against it; any other trouble of the filter is an ordinary error, so that nobody is told that
 * their content was refused when it was not.
 *
 * With a guardrail configured it is Amazon Bedrock Guardrails that decides, else every prompt may pass: a
 * provider's own refusal then arrives in the record.
 */
export const screenPrompt = async (prompt: string): Promise<void> => {
  if (!process.env.GUARDRAIL_ID) return;
  if (await isBlocked(prompt)) {
    throw new ServiceError('content_policy', 'The content filter refused the prompt.');
  }
};

/** Loaded only where a guardrail is configured: the client is large. */
const loadGuardrail = async () => {
  const [{ ApplyGuardrailCommand, BedrockRuntimeClient }, { NodeHttpHandler }] = await Promise.all([
    import('@aws-sdk/client-bedrock-runtime'),
    import('@smithy/node-http-handler'),
  ]);
  // The client's own default is HTTP/2, which one small request at a time does not need.
  const requestHandler = new NodeHttpHandler({ connectionTimeout: 1000, requestTimeout: 10_000 });
  const client = new BedrockRuntimeClient({ maxAttempts: 3, requestHandler });
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
  // A guardrail also intervenes to mask personal data, which is no decision against the content.
  return action === 'GUARDRAIL_INTERVENED' && (assessments.length === 0 || hasBlock(assessments));
};

/** Whether any policy of the assessments says BLOCKED; they differ in shape, and new ones keep appearing. */
const hasBlock = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.some(hasBlock);
  if (value === null || typeof value !== 'object') return false;
  return Object.entries(value).some(([name, nested]) =>
    name === 'action' ? nested === 'BLOCKED' : hasBlock(nested),
  );
};
