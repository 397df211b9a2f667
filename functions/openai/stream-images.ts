import { PassThrough } from 'node:stream';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { ServiceError } from '../../core/errors.ts';
import { logger } from '../../core/observability.ts';
import type { WaitingClock } from '../../core/time.ts';
import { internalError } from '../http/api-handler.ts';
import { openAiErrorResponse } from './errors.ts';

/** The longest silence of a stream: proxies cut calls that are silent for 60 s, some for 30 s. */
const COMMENT_MS = 10_000;
const COMMENT = ': the images are being made\n\n';

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Proxies of the nginx family would hold the comments back.
  'X-Accel-Buffering': 'no',
};

/** The body of an answer: images, or an error. */
interface ImagesBody {
  created?: number;
  data?: object[];
  error?: object;
}

/** The events of an answer: one for each image, or one for the error. */
const eventsOf = (type: string, { body }: APIGatewayProxyResult): string => {
  const { created, data = [], error }: ImagesBody = JSON.parse(body);
  const events = error
    ? [{ type: 'error', error }]
    : data.map((image) => ({ type, created_at: created, ...image }));
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
};

const failureOf = (error: unknown): APIGatewayProxyResult => {
  const failure = error instanceof ServiceError ? error : internalError(error);
  if (failure === error) logger.warn('request refused', { code: failure.code });
  else logger.error('request failed', { error: error as Error });
  return openAiErrorResponse(failure);
};

/** The clock of a call whose response is a stream: each 10 s of waiting write a comment. */
const commentingClock = (clock: WaitingClock, body: PassThrough): WaitingClock => {
  let silentMs = 0;
  return {
    now: () => clock.now(),
    sleep: async (milliseconds) => {
      silentMs += milliseconds;
      if (silentMs >= COMMENT_MS) {
        silentMs = 0;
        body.write(COMMENT);
      }
      await clock.sleep(milliseconds);
    },
  };
};

/**
 * The response of `work`. Once `work` opens a stream, the response is 200 at once, and its body has the events of `work`'s response, of
 * type `type`. The body ends with `work`. Rejects with an error that `work` throws before it opens a stream; a later error is an event.
 */
export const withEvents = (
  type: string,
  clock: WaitingClock,
  work: (open: (headers: Record<string, string>) => WaitingClock) => Promise<APIGatewayProxyResult>,
): Promise<APIGatewayProxyResult> => {
  const opened = Promise.withResolvers<APIGatewayProxyResult>();
  let body: PassThrough | undefined;
  const open = (headers: Record<string, string>): WaitingClock => {
    body = new PassThrough();
    body.write(COMMENT);
    // Middy streams such a body. The type knows only texts.
    opened.resolve({ statusCode: 200, headers: { ...HEADERS, ...headers }, body: body as unknown as string });
    return commentingClock(clock, body);
  };
  work(open).then(
    (answer) => (body ? body.end(eventsOf(type, answer)) : opened.resolve(answer)),
    (error) => (body ? body.end(eventsOf(type, failureOf(error))) : opened.reject(error)),
  );
  return opened.promise;
};
