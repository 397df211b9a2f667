import { describe, expect, test } from '@jest/globals';
import { aMedium, answerOf, aStudioVideo, poll, several, TIME, UUID, useSandbox } from './sandbox-client.ts';

const sandbox = useSandbox();

const WAN_2_7 = 'wan2.7-i2v';

type Task = {
  output: { task_id: string; task_status: string; video_url?: string; code?: string };
  usage?: Record<string, unknown>;
};

const submit = async (request: Record<string, unknown>): Promise<string> => {
  const answer = await answerOf(await sandbox.studioVideo(request));
  expect(answer).toEqual({
    status: 200,
    request_id: UUID,
    output: { task_id: UUID, task_status: 'PENDING' },
  });
  return (answer as unknown as Task).output.task_id;
};
const taskOf = (id: string) => sandbox.studioTaskOf<Task>(id);
const untilStatus = (id: string, status: string) =>
  poll(
    () => taskOf(id),
    (task) => task.output.task_status === status,
  );
const endOf = (id: string) =>
  poll(
    () => taskOf(id),
    ({ output }) => ['SUCCEEDED', 'FAILED'].includes(output.task_status),
  );

describe('a Model Studio video task', () => {
  test('is pending, running and succeeded, with its video and usage', async () => {
    const parameters = { resolution: '720P', ratio: '9:16', duration: 7, watermark: false, seed: -1 };
    const make = (directive: string) => submit(aStudioVideo({ prompt: `a fox ${directive}`, parameters }));

    const waits = await make('[queued=60]');
    expect(await taskOf(waits)).toEqual({
      request_id: UUID,
      output: { task_id: waits, task_status: 'PENDING', submit_time: TIME },
    });
    const runs = await make('[queued=0] [fail=timeout]');
    expect(await taskOf(runs)).toEqual({
      request_id: UUID,
      output: { task_id: runs, task_status: 'RUNNING', submit_time: TIME, scheduled_time: TIME },
    });
    const id = await make('[delay=0]');
    const succeeded = await untilStatus(id, 'SUCCEEDED');

    expect(succeeded).toEqual({
      request_id: UUID,
      output: {
        task_id: id,
        task_status: 'SUCCEEDED',
        submit_time: TIME,
        scheduled_time: TIME,
        end_time: TIME,
        orig_prompt: 'a fox [delay=0]',
        video_url: expect.stringMatching(`^${sandbox.url}/outputs/[0-9a-f-]{36}\\.mp4$`),
      },
      usage: {
        duration: 7,
        input_video_duration: 0,
        output_video_duration: 7,
        video_count: 1,
        fps: 30,
        SR: 720,
        ratio: '9:16',
      },
    });
    expect(await taskOf(id)).toMatchObject({ output: succeeded.output });
    expect(await sandbox.journalOf(id)).toMatchObject({ upstream: 'modelstudio', callbacks: [] });
  });

  test.each([
    ['wan3.0-video', {}, { SR: 1080, duration: 5, ratio: '16:9' }],
    ['wan3.0-video-prime', { ratio: '21:9' }, { SR: 1080, duration: 5, ratio: '21:9' }],
    ['wan3.0-video', { duration: -1, ratio: 'adaptive' }, { duration: 5, ratio: '16:9' }],
    [WAN_2_7, { ratio: 'follows the image' }, { SR: 1080, duration: 5, ratio: '16:9' }],
  ])('of %s with %j has the defaults', async (model, parameters, usage) => {
    const media = model === WAN_2_7 ? several('first_frame', 1) : [];

    const task = await endOf(
      await submit(aStudioVideo({ model, media, parameters, prompt: 'a fox [delay=0]' })),
    );

    expect(task).toMatchObject({ output: { task_status: 'SUCCEEDED' }, usage });
  });

  test.each([
    [WAN_2_7, ['first_frame']],
    [WAN_2_7, ['first_frame', 'last_frame']],
    [WAN_2_7, ['first_frame', 'driving_audio']],
    [WAN_2_7, ['first_clip']],
    ['wan3.0-video', ['first_frame']],
    ['wan3.0-video', ['first_frame', 'last_frame']],
    ['wan3.0-video', ['reference_audio']],
    ['wan3.0-video', ['reference_image', 'reference_video', 'reference_audio', 'file']],
    ['wan3.0-video-prime', ['reference_image', 'link']],
  ])('of %s succeeds with the media %j', async (model, types) => {
    const media = types.map((type) => aMedium(type));

    const task = await endOf(await submit(aStudioVideo({ model, media, prompt: 'a fox [delay=0]' })));

    expect(task.output.task_status).toBe('SUCCEEDED');
  });

  test.each([
    [WAN_2_7, ['last_frame']],
    [WAN_2_7, ['driving_audio']],
    [WAN_2_7, ['first_frame', 'last_frame', 'driving_audio']],
    [WAN_2_7, ['first_clip', 'first_frame']],
    ['wan3.0-video', ['last_frame']],
    ['wan3.0-video', ['first_frame', 'reference_image']],
    ['wan3.0-video', ['first_frame', 'last_frame', 'reference_audio']],
    ['wan3.0-video', ['first_frame', 'link']],
    ['wan3.0-video-prime', ['file', 'link']],
  ])('of %s is accepted with the media %j and fails', async (model, types) => {
    const media = types.map((type) => aMedium(type));

    const task = await endOf(await submit(aStudioVideo({ model, media, prompt: 'a fox [delay=0]' })));

    expect(task).toEqual({
      request_id: UUID,
      output: {
        task_id: UUID,
        task_status: 'FAILED',
        submit_time: TIME,
        scheduled_time: TIME,
        end_time: TIME,
        code: 'InvalidParameter',
        message: expect.any(String),
      },
    });
  });

  test('ignores the prompt past the limit of the model', async () => {
    const prompt = `${'x'.repeat(19_990)} [empty] [delay=5]`;

    const task = await endOf(await submit(aStudioVideo({ prompt })));

    expect(task.output).toMatchObject({ orig_prompt: prompt.slice(0, 20_000) });
  });

  test('is refused for a synchronous call', async () => {
    expect(await answerOf(await sandbox.studioVideo(aStudioVideo(), {}))).toMatchObject({
      status: 403,
      code: 'AccessDenied',
      message: expect.stringContaining('does not support synchronous calls'),
    });
  });
});
