import { expect, test } from '@jest/globals';
import { isLine, ratioOf, ratioOfOutput } from '../../../console/requests/gallery-rules.ts';
import type { AnyRecord, Output } from '../../../console/state/record-rules.ts';

const NOW = new Date('2026-11-26T12:00:00.000Z');
const record = (parts: object): AnyRecord =>
  ({ requestId: 'img_1', status: 'queued', ...parts }) as unknown as AnyRecord;
const image = (size: string, index = 0): Output => ({
  ...{ id: `img_1_${index}`, url: 'https://x/0.png', size, expiresAt: '2026-11-27T12:00:00.000Z' },
});

test.each([
  [{ input: { size: '1280x720', aspectRatio: 'auto' } }, 16 / 9],
  [{ input: { size: '1K', aspectRatio: 'portrait' } }, 9 / 16],
  [{ input: { size: '9K', aspectRatio: 'auto' } }, 1],
  [{}, 1],
  [{ requestId: 'vid_1' }, 16 / 9],
  [{ requestId: 'vid_1', input: { resolution: '480p', ratio: '3:4' } }, 3 / 4],
  [{ requestId: 'vid_1', input: { resolution: '480p', ratio: 'adaptive' } }, 16 / 9],
])('The place of a request without outputs has the ratio that was asked for: %j', (parts, ratio) => {
  expect(ratioOf(record(parts))).toBeCloseTo(ratio, 2);
});

test('Outputs have the ratio of their files, and stand beside each other up to a row’s width', () => {
  const tall = record({ status: 'succeeded', images: [image('640x1024')] });
  const three = record({ status: 'succeeded', images: [0, 1, 2].map((index) => image('640x640', index)) });
  const many = record({
    status: 'succeeded',
    images: Array.from({ length: 15 }, (_, index) => image('1280x720', index)),
  });

  expect(ratioOf(tall)).toBeCloseTo(0.625, 3);
  expect(ratioOfOutput(tall, image('640x1024'))).toBeCloseTo(0.625, 3);
  expect(ratioOf(three)).toBe(3);
  expect(ratioOf(many)).toBe(4);
});

test.each([
  [{ status: 'failed' }, true],
  [{ status: 'expired' }, true],
  [{ status: 'processing' }, false],
  [{ status: 'succeeded', images: [image('1x1')] }, false],
  [{ status: 'succeeded', images: [{ ...image('1x1'), expiresAt: '2026-11-26T11:00:00.000Z' }] }, true],
])('A request with nothing to see is a line: %j', (parts, isOne) => {
  expect(isLine(record(parts), NOW)).toBe(isOne);
});
