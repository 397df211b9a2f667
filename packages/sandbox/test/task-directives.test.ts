import { describe, expect, test } from '@jest/globals';
import {
  anArkVideo,
  aStudioRequest,
  aStudioVideo,
  outcomeOf,
  poll,
  taskIdOf,
  useSandbox,
} from './sandbox-client.ts';

const sandbox = useSandbox({ plainImages: true });

/** What each upstream says of a task, in one shape. */
interface Seen {
  status: string;
  code?: string | undefined;
  message?: string | undefined;
  urls: string[];
}
interface Upstream {
  create(prompt: string): Promise<Response>;
  query(id: string): Promise<Response>;
  seen(answer: never): Seen;
  /** Its words for the states of a task. */
  states: { running: string; succeeded: string; failed: string };
  /** Its codes for the failures of a task. */
  codes: Record<'content_policy' | 'provider_error', string>;
  busy: string;
}

const ark: Upstream = {
  create: (prompt) => sandbox.arkVideo(anArkVideo({ prompt })),
  query: (id) => sandbox.call('GET', `/api/v3/contents/generations/tasks/${id}`),
  seen: ({ status, error, content }: never) => ({
    ...{ status, ...(error as object | null) },
    urls: [(content as { video_url?: string } | undefined)?.video_url ?? []].flat(),
  }),
  states: { running: 'running', succeeded: 'succeeded', failed: 'failed' },
  codes: { content_policy: 'OutputVideoSensitiveContentDetected', provider_error: 'InternalServiceError' },
  busy: 'ServerOverloaded',
};
interface StudioOutput {
  task_status: string;
  code?: string;
  message?: string;
  video_url?: string;
  choices?: { message: { content: { image?: string }[] } }[];
}
const studio = {
  query: (id: string) => sandbox.call('GET', `/api/v1/tasks/${id}`),
  seen: ({ output }: never) => {
    const { task_status: status, code, message, video_url, choices = [] } = output as StudioOutput;
    const images = choices.flatMap((choice) => choice.message.content.flatMap(({ image }) => image ?? []));
    return { status, code, message, urls: [...images, video_url ?? []].flat() };
  },
  states: { running: 'RUNNING', succeeded: 'SUCCEEDED', failed: 'FAILED' },
  codes: { content_policy: 'DataInspectionFailed', provider_error: 'InternalError' },
  busy: 'Throttling.RateQuota',
};
const UPSTREAMS: [string, Upstream][] = [
  ['a ModelArk video task', ark],
  [
    'a Model Studio video task',
    { ...studio, create: (prompt) => sandbox.studioVideo(aStudioVideo({ prompt })) },
  ],
  [
    'a Model Studio image task',
    {
      ...studio,
      create: (prompt) => sandbox.studioTask(aStudioRequest({ prompt, parameters: { n: 2 } })),
    },
  ],
];

const driverOf = (upstream: Upstream) => {
  const submit = async (directives: string): Promise<string> => {
    const response = await upstream.create(`a fox ${directives}`);
    expect(response.status).toBe(200);
    return taskIdOf(response);
  };
  const seenOf = async (id: string): Promise<Seen> =>
    upstream.seen((await (await upstream.query(id)).json()) as never);
  const until = (id: string, status: string) =>
    poll(
      () => seenOf(id),
      (seen) => seen.status === status,
    );
  return { submit, seenOf, until };
};

describe.each(UPSTREAMS)('%s', (what, upstream) => {
  const { states } = upstream;
  const { submit, seenOf, until } = driverOf(upstream);
  const fileStatuses = async (directives: string) => {
    const { urls } = await until(await submit(`${directives} [delay=0]`), states.succeeded);
    return Promise.all(urls.map(async (url) => (await fetch(url, { method: 'HEAD' })).status));
  };

  test.each(['content_policy', 'provider_error'] as const)(
    '[fail=%s] fails it with its code',
    async (kind) => {
      expect(await until(await submit(`[fail=${kind}] [delay=0.1]`), states.failed)).toMatchObject({
        ...{ code: upstream.codes[kind], message: expect.any(String), urls: [] },
      });
    },
  );

  test('[fail=timeout] never finishes', async () => {
    const [forever, short] = [await submit('[fail=timeout]'), await submit('[delay=1.2]')];

    await until(short, states.succeeded);

    expect((await seenOf(forever)).status).toBe(states.running);
  });

  test('[flaky] rejects the first creations of a prompt', async () => {
    const create = () => upstream.create(`a flaky fox for ${what} [flaky=2] [delay=0]`);

    expect(await outcomeOf(await create())).toEqual([429, upstream.busy]);
    expect([(await create()).status, (await create()).status]).toEqual([429, 200]);
  });

  test('[broken] makes the URL of that file return 410', async () => {
    const files = (await fileStatuses('')).length;

    expect(await fileStatuses('[broken=0]')).toEqual([410, ...Array(files - 1).fill(200)]);
    expect(await fileStatuses(`[broken=${files}]`)).toEqual(Array(files).fill(200));
    expect(await fileStatuses('[broken=all]')).toEqual(Array(files).fill(410));
  });

  test('[status] is the status until the task finishes', async () => {
    const unfinished = await submit('[status=in_review] [fail=timeout]');
    const finished = await submit('[status=in_review] [delay=0]');

    expect((await until(finished, states.succeeded)).urls).not.toEqual([]);
    expect((await seenOf(unfinished)).status).toBe('in_review');
  });
});
