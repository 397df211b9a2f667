import { expect, test } from '@jest/globals';
import { anArkVideo, aStudioRequest, aStudioVideo, taskIdOf, useSandbox } from './sandbox-client.ts';

const sandbox = useSandbox();

/** The status of an answer, and the names of its fields. */
const shapeOf = async (answer: Response) => {
  expect(answer.headers.get('content-type')).toMatch('application/json');
  return [answer.status, Object.keys((await answer.json()) as object)];
};

test('A garbled creation is answered with 200 and its answer one level deeper, by every route', async () => {
  const prompt = 'a fox [garbled=creation]';
  const creations = [
    () => sandbox.arkImages({ prompt }),
    () => sandbox.arkVideo(anArkVideo({ prompt })),
    () => sandbox.studioImages(aStudioRequest({ prompt })),
    () => sandbox.studioTask(aStudioRequest({ prompt })),
    () => sandbox.studioVideo(aStudioVideo({ prompt })),
  ];
  for (const create of creations) expect(await shapeOf(await create())).toEqual([200, ['result']]);
});

test('Garbled queries are answered so every time, of a task that was created as any other', async () => {
  const prompt = 'a fox [delay=0][garbled=queries]';
  const ark = await taskIdOf(await sandbox.arkVideo(anArkVideo({ prompt })));
  const studio = [
    await taskIdOf(await sandbox.studioTask(aStudioRequest({ prompt }))),
    await taskIdOf(await sandbox.studioVideo(aStudioVideo({ prompt }))),
  ];

  for (const path of [
    `/api/v3/contents/generations/tasks/${ark}`,
    ...studio.map((id) => `/api/v1/tasks/${id}`),
  ]) {
    for (const _ of [1, 2]) expect(await shapeOf(await sandbox.call('GET', path))).toEqual([200, ['result']]);
  }
});
