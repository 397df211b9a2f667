import { outside } from '../engine/invocation.ts';
import { Part } from '../part.ts';
import { type CallbackContent, falCallback } from './fal.ts';

/** A callback on its way. */
export interface Callback {
  url: string;
  /** Headers and body as they are at the instant of sending; without signature and empty by default. */
  content?: (() => CallbackContent) | undefined;
  /** Whether it comes from the provider, which sends it again when it is not answered with 200. */
  isGenuine: boolean;
}

/** A callback that was answered. */
export interface AnsweredCallback {
  requestId: string;
  isGenuine: boolean;
  status: number;
}

/** How long the provider waits before it repeats a callback that was not taken, and how often. */
const RETRY_MS = 10_000;
const TRIES = 3;
/** In the path of a callback's URL, after `/callbacks/`. */
const FIRST_PARAMETER = 2;

/** The callbacks of providers, and of those who call in their name. */
export class Callbacks extends Part {
  /** Told of each answer. */
  readonly onAnswered: ((answered: AnsweredCallback) => void)[] = [];

  /** Calls back, and again when a provider is not answered with 200. */
  send(callback: Callback, attempt = 1): void {
    const { evidence, lambda, mutation, scheduler } = this.world;
    const { url, content, isGenuine } = callback;
    const [provider, requestId, token] = new URL(url).pathname.split('/').slice(FIRST_PARAMETER);
    const sent = content?.() ?? { headers: {}, body: '{}' };
    const { headers, body } = mutation?.signs ? falCallback('task-0', scheduler.now) : sent;
    const event = {
      resource: '/callbacks/{provider}/{requestId}/{token}',
      httpMethod: 'POST',
      headers,
      pathParameters: { provider, requestId, token },
      multiValueQueryStringParameters: null,
      body,
      isBase64Encoded: false,
      requestContext: { requestId: 'callback' },
    };
    const again = (): void => {
      if (!isGenuine || attempt >= TRIES) return;
      scheduler.after(RETRY_MS, () => this.send(callback, attempt + 1));
    };
    outside(() => lambda.run(this.world.functionNamed('receive-callback'), event)).then((answer) => {
      const { statusCode: status } = answer as { statusCode: number };
      for (const listen of this.onAnswered) listen({ requestId: String(requestId), isGenuine, status });
      if (status === 200) evidence.calledBackAt.set(String(requestId), scheduler.now);
      else again();
    }, again);
  }
}
