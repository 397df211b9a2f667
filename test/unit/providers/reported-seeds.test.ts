import { expect, test } from '@jest/globals';
import { readFalResult } from '../../../providers/fal/results.ts';
import type { HttpAnswer } from '../../../providers/http.ts';
import { ModelArk } from '../../../providers/modelark/modelark.ts';

const answered = (body: unknown) => ({ kind: 'answered', status: 200, body }) as HttpAnswer;
const url = 'https://files.example.com/a.mp4';

/** The adapter's reading of answers, without a call. */
class ReadArk extends ModelArk {
  read(answer: HttpAnswer) {
    return this.readTask(answer);
  }
}
const ark = new ReadArk({ baseUrl: 'https://ark.example.com', apiKey: 'key' });
const arkTask = (seed: unknown) =>
  ark.read(answered({ id: 'cgt-1', status: 'succeeded', content: { video_url: url }, seed }));

const READS: [string, (seed: unknown) => unknown][] = [
  ['a video of ModelArk', arkTask],
  ['a video of fal', (seed) => readFalResult(answered({ video: { url }, seed }))],
  ['images of fal', (seed) => readFalResult(answered({ images: [{ url }], seed }))],
];

test.each(READS)('the seed of %s is read where the maker reports one', (_what, read) => {
  expect(read(4711)).toMatchObject({ kind: 'done', seed: 4711 });
  expect(read(0)).toMatchObject({ seed: 0 });
  for (const none of [undefined, null, -1, 1.5, '4711', 2 ** 60])
    expect(read(none)).not.toHaveProperty('seed');
});
