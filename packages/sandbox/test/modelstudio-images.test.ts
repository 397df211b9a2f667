import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { answerOf, aStudioRequest, poll, TIME, taskIdOf, UUID, useSandbox } from './sandbox-client.ts';

// Its files are made up.
const sandbox = useSandbox({ fetchInputs: false });

const Z_IMAGE = 'z-image-turbo';
const OUTPUT_URL = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/outputs\/[0-9a-f-]{36}\.png$/);

type Choice = { message: { content: { image?: string; text?: string }[] } };
type Task = { output: { task_id: string; task_status: string; choices?: Choice[] }; usage?: unknown };

const urlsOf = (choices: Choice[] = []) =>
  choices.flatMap(({ message }) => message.content.flatMap(({ image }) => image ?? []));
const statusesOf = (urls: string[]) => Promise.all(urls.map(async (url) => (await fetch(url)).status));

const submit = async (request: ReturnType<typeof aStudioRequest>) =>
  taskIdOf(await sandbox.studioTask(request));
const taskOf = (id: string) => sandbox.studioTaskOf<Task>(id);
const cancel = async (id: string) => answerOf(await sandbox.call('POST', `/api/v1/tasks/${id}/cancel`));
/** A request with this content. */
const saying = (...content: object[]) => ({
  ...aStudioRequest(),
  input: { messages: [{ role: 'user', content }] },
});
const statusIs = (status: string) => (task: Task) => task.output.task_status === status;

describe('Model Studio images, synchronous', () => {
  test('are content items of one choice', async () => {
    const request = aStudioRequest({
      images: ['https://example.com/a.png', 'data:image/png;base64,iVBORw0KGgo='],
      parameters: { size: '640*512', n: 3, prompt_extend: false },
    });

    const answer = await answerOf(await sandbox.studioImages(request));

    expect(answer).toEqual({
      status: 200,
      request_id: UUID,
      output: {
        choices: [
          {
            finish_reason: 'stop',
            message: {
              role: 'assistant',
              content: [{ image: OUTPUT_URL }, { image: OUTPUT_URL }, { image: OUTPUT_URL }],
            },
          },
        ],
      },
      usage: {
        output_image_count: 3,
        output_image_type: 'qima_output_1k',
        output_width: 640,
        output_height: 512,
        input_image_count: 2,
        input_image_type: 'qima_input_1k',
      },
    });
    const [url = ''] = urlsOf((answer as unknown as Task).output.choices);
    const image = await fetch(url);
    expect(image.headers.get('content-type')).toBe('image/png');
    expect(await sharp(await image.arrayBuffer()).metadata()).toMatchObject({
      width: 640,
      height: 512,
      format: 'png',
    });
  });

  test('of z-image are one image and its text', async () => {
    const request = aStudioRequest({
      model: Z_IMAGE,
      prompt: 'a red fox [delay=0]',
      parameters: { size: '256*2560' },
    });

    const answer = await answerOf(await sandbox.studioImages(request));

    expect(answer).toMatchObject({
      output: {
        choices: [
          { message: { content: [{ image: OUTPUT_URL }, { text: 'a red fox' }], reasoning_content: '' } },
        ],
      },
      usage: { image_count: 1, width: 256, height: 2560 },
    });
  });

  test('of z-image are drawn from the first 800 characters of a prompt', async () => {
    const text = `[delay=0]${'🦊'.repeat(791)}`;
    const request = aStudioRequest({ model: Z_IMAGE, prompt: `${text}[fail=provider_error]` });

    const answer = await answerOf(await sandbox.studioImages(request));

    expect(answer).toMatchObject({
      status: 200,
      output: { choices: [{ message: { content: [{}, { text: '🦊'.repeat(791) }] } }] },
    });
  });

  test.each([
    ['qwen-image-3.0-pro', '2048*2048', 'qima_output_2k'],
    ['qwen-image-3.0', '1500*1500', 'qima_output_1k'],
  ])('of %s at %s are metered as %s', async (model, size, type) => {
    const answer = await answerOf(
      await sandbox.studioImages(aStudioRequest({ model, parameters: { size } })),
    );

    expect(answer).toMatchObject({ status: 200, usage: { output_image_type: type } });
  });

  test.each([
    ['no text', saying()],
    ['two texts', saying({ text: 'a' }, { text: 'b' })],
    ['no message', { ...aStudioRequest(), input: {} }],
    ['no model', { ...aStudioRequest(), model: undefined }],
    ['an item of an unknown kind', saying({ text: 'a' }, { video: 'b' })],
    ['four input images', aStudioRequest({ images: Array(4).fill('https://example.com/a.png') })],
    ['an input image that is not a URL', aStudioRequest({ images: ['fox.png'] })],
    ['seven images', aStudioRequest({ parameters: { n: 7 } })],
    ['a number of images that is a string', aStudioRequest({ parameters: { n: '2' } })],
    ['a size with the letter x', aStudioRequest({ parameters: { size: '512x512' } })],
    ['too few pixels', aStudioRequest({ parameters: { size: '511*512' } })],
    ['too many pixels', aStudioRequest({ parameters: { size: '2048*2049' } })],
    ['too long a side', aStudioRequest({ parameters: { size: '1800*200' } })],
    ['a negative seed', aStudioRequest({ parameters: { seed: -1 } })],
    ['two images from z-image', aStudioRequest({ model: Z_IMAGE, parameters: { n: 2 } })],
    ['an input image for z-image', aStudioRequest({ model: Z_IMAGE, images: ['https://example.com/a.png'] })],
    ['too many pixels for z-image', aStudioRequest({ model: Z_IMAGE, parameters: { size: '2048*2049' } })],
    ['too few pixels for z-image', aStudioRequest({ model: Z_IMAGE, parameters: { size: '512*511' } })],
    ['too long a side for z-image', aStudioRequest({ model: Z_IMAGE, parameters: { size: '160*1601' } })],
  ])('are refused for %s', async (_, request) => {
    expect(await answerOf(await sandbox.studioImages(request))).toEqual({
      status: 400,
      code: 'InvalidParameter',
      message: expect.any(String),
      request_id: UUID,
    });
  });

  test('are refused for an unknown model', async () => {
    const answer = await answerOf(await sandbox.studioImages(aStudioRequest({ model: 'gpt-image-1' })));

    expect(answer).toMatchObject({ status: 404, code: 'ModelNotFound' });
  });

  test('are refused for an asynchronous call', async () => {
    const response = await sandbox.studioImages(aStudioRequest(), { 'x-dashscope-async': 'enable' });

    expect(await answerOf(response)).toMatchObject({
      status: 403,
      code: 'AccessDenied',
      message: expect.stringContaining('does not support asynchronous calls'),
    });
  });

  test.each([
    ['[fail=content_policy]', 400, 'DataInspectionFailed'],
    ['[fail=provider_error]', 500, 'InternalError'],
    ['[flaky=1]', 429, 'Throttling.RateQuota'],
  ])('%s returns %i %s', async (directive, status, code) => {
    const response = await sandbox.studioImages(aStudioRequest({ prompt: `a red fox ${directive}` }));

    expect(await answerOf(response)).toMatchObject({ status, code, request_id: UUID });
  });

  test('[flaky] succeeds after its failures, [broken] breaks the URL of that image', async () => {
    const request = aStudioRequest({ prompt: 'a fox [flaky=2] [broken=1]', parameters: { n: 3 } });
    const call = async () => answerOf(await sandbox.studioImages(request));

    expect([(await call()).status, (await call()).status]).toEqual([429, 429]);
    const answer = (await call()) as unknown as Task;
    expect(await statusesOf(urlsOf(answer.output.choices))).toEqual([200, 410, 200]);
  });
});

describe('Model Studio images, asynchronous', () => {
  test('a task is pending, running and succeeded, with a choice for each image', async () => {
    const requested = (directive: string) =>
      aStudioRequest({ prompt: `a fox ${directive}`, parameters: { n: 2 } });
    const created = await answerOf(await sandbox.studioTask(requested('[queued=60]')));
    expect(created).toEqual({
      status: 200,
      request_id: UUID,
      output: { task_id: UUID, task_status: 'PENDING' },
    });
    const { task_id: waits } = (created as unknown as Task).output;

    const pending = await taskOf(waits);
    expect(pending).toEqual({
      request_id: UUID,
      output: { task_id: waits, task_status: 'PENDING', submit_time: TIME },
    });
    const runs = await submit(requested('[queued=0] [fail=timeout]'));
    expect(statusIs('RUNNING')(await taskOf(runs))).toBe(true);
    const id = await submit(requested('[delay=0]'));
    const succeeded = await poll(() => taskOf(id), statusIs('SUCCEEDED'));

    expect(succeeded).toEqual({
      request_id: UUID,
      output: {
        task_id: id,
        task_status: 'SUCCEEDED',
        submit_time: TIME,
        scheduled_time: TIME,
        end_time: TIME,
        choices: [0, 1].map(() => ({
          finish_reason: 'stop',
          message: { role: 'assistant', content: [{ image: OUTPUT_URL }] },
        })),
      },
      usage: expect.objectContaining({ output_image_count: 2, output_width: 512 }),
    });
    expect(await taskOf(id)).toMatchObject({ output: succeeded.output });
    const [url = ''] = urlsOf(succeeded.output.choices);
    const image = await sharp(await (await fetch(url)).arrayBuffer()).metadata();
    expect(image).toMatchObject({ width: 512, height: 512, format: 'png' });
  });

  test('a task that waits can be cancelled once, and one that runs or is unknown cannot', async () => {
    const pending = await submit(aStudioRequest({ prompt: 'a fox [delay=30]' }));
    const queued = await submit(aStudioRequest({ prompt: 'a fox [queued=60]' }));
    const running = await submit(aStudioRequest({ prompt: 'a fox [queued=0] [delay=30]' }));

    for (const id of [pending, queued]) {
      expect(await cancel(id)).toEqual({ status: 200, request_id: UUID });
      expect((await taskOf(id)).output.task_status).toBe('CANCELED');
    }
    for (const id of [pending, running, 'unknown']) {
      expect(await cancel(id)).toMatchObject({ status: 400, code: 'UnsupportedOperation' });
    }
    expect((await sandbox.journalOf(running))?.cancels).toBe(1);
  });

  test('an unknown task has the status UNKNOWN', async () => {
    const response = await sandbox.call('GET', '/api/v1/tasks/0b7e1f9e');

    expect(await answerOf(response)).toEqual({
      status: 200,
      request_id: UUID,
      output: { task_id: '0b7e1f9e', task_status: 'UNKNOWN' },
    });
  });

  test('a synchronous call and a synchronous-only model are refused', async () => {
    expect(await answerOf(await sandbox.studioTask(aStudioRequest(), {}))).toMatchObject({
      status: 403,
      code: 'AccessDenied',
      message: expect.stringContaining('does not support synchronous calls'),
    });
    expect(await answerOf(await sandbox.studioTask(aStudioRequest({ model: Z_IMAGE })))).toMatchObject({
      status: 400,
      code: 'InvalidParameter',
    });
  });
});
