import { startSandbox } from '../../../sandbox/server.ts';

const API_KEY = 'test-key';

/** A running sandbox and short ways to call it. Every call carries the key unless `headers` say otherwise. */
export const aSandbox = async () => {
  const sandbox = await startSandbox({ apiKey: API_KEY });
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(sandbox.url + path, {
      method,
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });

  return {
    ...sandbox,
    call,
    arkImages: (fields: Record<string, unknown>) =>
      call('POST', '/api/v3/images/generations', {
        model: 'dola-seedream-5-0-pro-260628',
        size: '1280x720',
        watermark: false,
        ...fields,
      }),
    studioImages: (fields: Record<string, unknown>, headers?: Record<string, string>) =>
      call('POST', '/api/v1/services/aigc/multimodal-generation/generation', fields, headers),
    studioTask: (
      fields: Record<string, unknown>,
      headers: Record<string, string> = { 'x-dashscope-async': 'enable' },
    ) => call('POST', '/api/v1/services/aigc/image-generation/generation', fields, headers),
  };
};

/** A Model Studio request for an image. */
export const aStudioRequest = ({
  model = 'qwen-image-3.0-pro',
  prompt = 'a red fox',
  images = [],
  parameters = {},
}: {
  model?: string;
  prompt?: string;
  images?: string[];
  parameters?: Record<string, unknown>;
} = {}) => ({
  model,
  input: { messages: [{ role: 'user', content: [...images.map((image) => ({ image })), { text: prompt }] }] },
  parameters: { size: '512*512', ...parameters },
});

/** Asks until `accept` takes the answer; throws after `withinMilliseconds`. */
export const poll = async <Answer>(
  ask: () => Promise<Answer>,
  accept: (answer: Answer) => boolean,
  withinMilliseconds = 10_000,
): Promise<Answer> => {
  const until = Date.now() + withinMilliseconds;
  for (;;) {
    const answer = await ask();
    if (accept(answer)) return answer;
    if (Date.now() > until) throw new Error(`not reached in time; last answer: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
