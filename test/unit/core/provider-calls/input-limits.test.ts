import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { MEDIA, type Medium } from '../../../../core/errors.ts';
import {
  type FileFacts,
  type FileLimits,
  fileProblem,
  togetherProblem,
  typeName,
} from '../../../../core/provider-calls/input-limits.ts';
import { KNOWN_LIMITS, limitsOf } from '../../../../core/provider-calls/upstream-limits.ts';
import { readDocument, tableRows } from '../../docs/documents.ts';

const MEGABYTE = 1024 * 1024;
/** A file that every known upstream takes. */
const GOOD: Record<Medium, FileFacts> = {
  image: { contentType: 'image/jpeg', sizeBytes: MEGABYTE, width: 640, height: 480 },
  video: {
    ...{ contentType: 'video/mp4', sizeBytes: MEGABYTE, width: 640, height: 480 },
    ...{ durationMs: 3_000, framesPerSecond: 24 },
  },
  audio: { contentType: 'audio/mpeg', sizeBytes: MEGABYTE, durationMs: 3_000 },
};

describe('a file that a model does not take', () => {
  test.each<[Medium, Partial<FileFacts>, FileLimits, string]>([
    [
      'image',
      { contentType: 'image/gif' },
      { types: ['image/png', 'image/jpeg'] },
      'is GIF; the model takes PNG and JPEG',
    ],
    [
      'video',
      { contentType: 'video/webm' },
      { types: ['video/mp4', 'video/quicktime'] },
      'is WebM; the model takes MP4 and QuickTime',
    ],
    [
      'video',
      { contentType: 'video/x-matroska' },
      { types: ['video/mp4'] },
      'is Matroska; the model takes MP4',
    ],
    [
      'image',
      { sizeBytes: 12.5 * MEGABYTE },
      { maxBytes: 10 * MEGABYTE },
      'has 12.5 MB; the model takes up to 10 MB',
    ],
    [
      'image',
      { sizeBytes: 10 * MEGABYTE + 1 },
      { maxBytes: 10 * MEGABYTE },
      'has 10.01 MB; the model takes up to 10 MB',
    ],
    ['image', { hasAlpha: true }, { alpha: false }, 'has an alpha channel; the model takes PNG without one'],
    [
      'image',
      { width: 8, height: 8 },
      { minSide: 15 },
      'has 8x8 pixels; the model takes sides of 15 or more',
    ],
    [
      'image',
      { width: 9000, height: 300 },
      { minSide: 240, maxSide: 8000 },
      'has 9000x300 pixels; the model takes sides of 240 to 8,000',
    ],
    [
      'image',
      { width: 7000, height: 6000 },
      { maxPixels: 36_000_000 },
      'has 7000x6000 pixels, 42,000,000 in all; the model takes up to 36,000,000',
    ],
    [
      'image',
      { width: 100, height: 801 },
      { maxRatio: 8 },
      'has 100x801 pixels; the model takes aspect ratios of 1:8 to 8:1',
    ],
    [
      'video',
      { durationMs: 500 },
      { minSeconds: 1, maxSeconds: 15 },
      'lasts 0.5 s; the model takes 1 to 15 s',
    ],
    ['video', { durationMs: 15_015 }, { maxSeconds: 15 }, 'lasts 15.015 s; the model takes up to 15 s'],
    [
      'video',
      { framesPerSecond: 12.004 },
      { minFramesPerSecond: 16 },
      'has 12 frames a second; the model takes 16 or more',
    ],
    [
      'audio',
      { durationMs: 16_000 },
      { minSeconds: 1, maxSeconds: 15 },
      'lasts 16 s; the model takes 1 to 15 s',
    ],
  ])('is told what was measured, and what is taken: %s %j by %j', (medium, facts, limits, problem) => {
    expect(fileProblem({ ...GOOD[medium], ...facts }, medium, limits)).toBe(problem);
    expect(fileProblem(GOOD[medium], medium, limits)).toBeUndefined();
  });

  test('is not one of which a fact is not known', () => {
    const bare = { contentType: 'image/png', sizeBytes: 1 };

    expect(
      fileProblem(bare, 'image', { minSide: 9, maxPixels: 9, minSeconds: 9, minFramesPerSecond: 9 }),
    ).toBeUndefined();
  });

  test('is told with the length of all where they are too long together', () => {
    const files = [{ durationMs: 8_000 }, { durationMs: 7_200 }];

    expect(togetherProblem(files, 'video', { maxTotalSeconds: 15 })).toBe(
      'last 15.2 s together; the model takes up to 15 s',
    );
    expect(togetherProblem(files, 'video', { maxTotalSeconds: 15.2 })).toBeUndefined();
    expect(togetherProblem(files, 'video', {})).toBeUndefined();
  });
});

/** One fact just within a limit, and just beyond it. */
const BOUNDS: {
  [Name in keyof FileLimits]-?: (limit: number) => [within: Partial<FileFacts>, beyond: Partial<FileFacts>];
} = {
  types: () => [{}, { contentType: 'video/webm' }],
  maxBytes: (limit) => [{ sizeBytes: limit }, { sizeBytes: limit + 1 }],
  minSide: (limit) => [
    { width: limit, height: limit },
    { width: limit - 1, height: limit },
  ],
  maxSide: (limit) => [
    { width: limit, height: limit },
    { width: limit + 1, height: limit },
  ],
  maxPixels: (limit) => [
    { width: Math.sqrt(limit), height: Math.sqrt(limit) },
    { width: Math.sqrt(limit) + 1, height: Math.sqrt(limit) },
  ],
  maxRatio: (limit) => [
    { width: 300 * limit, height: 300 },
    { width: 300 * limit + 1, height: 300 },
  ],
  alpha: () => [{ hasAlpha: false }, { hasAlpha: true }],
  minSeconds: (limit) => [{ durationMs: limit * 1000 }, { durationMs: limit * 1000 - 101 }],
  maxSeconds: (limit) => [{ durationMs: limit * 1000 }, { durationMs: limit * 1000 + 101 }],
  maxTotalSeconds: (limit) => [{ durationMs: limit * 1000 }, { durationMs: limit * 1000 + 101 }],
  minFramesPerSecond: (limit) => [{ framesPerSecond: limit }, { framesPerSecond: limit - 1 }],
};
const CASES = Object.keys(KNOWN_LIMITS).flatMap((upstream) =>
  MEDIA.flatMap((medium) =>
    Object.entries(limitsOf({ upstreamModel: upstream }).inputs?.[medium] ?? {}).map(
      ([name, limit]) => [upstream, medium, name as keyof FileLimits, limit] as const,
    ),
  ),
);

describe('each known limit of an upstream on input files', () => {
  test('is one of the six upstreams of cdk.json at least, that take files', () => {
    const { context } = JSON.parse(readFileSync(new URL('../../../../cdk.json', import.meta.url), 'utf8'));
    const upstreams = Object.values(context.modelRoutes as Record<string, { upstreamModel: string }>);
    const limited = upstreams.filter((route) => limitsOf(route).inputs);

    expect(upstreams).toHaveLength(6);
    expect(limited.map(({ upstreamModel }) => upstreamModel)).toEqual(
      upstreams.map(({ upstreamModel }) => upstreamModel).filter((id) => id !== 'z-image-turbo'),
    );
  });

  test.each(CASES)('%s takes %s up to %s %j, and nothing beyond', (upstream, medium, name, limit) => {
    const limits = limitsOf({ upstreamModel: upstream }).inputs?.[medium] ?? {};
    const [within, beyond] = BOUNDS[name](Number(limit));
    const problemOf = (facts: Partial<FileFacts>) => {
      const file = { ...GOOD[medium], ...facts };
      return fileProblem(file, medium, limits) ?? togetherProblem([file], medium, limits);
    };

    expect(problemOf(within)).toBeUndefined();
    expect(problemOf(beyond)).toEqual(expect.any(String));
  });
});

describe('the table of docs/configuring.md', () => {
  const rows = tableRows(readDocument('docs/configuring.md'), 'upstream model', 'input files', 'it takes');

  test('says of each upstream of cdk.json, and of Seedance, what files it takes', () => {
    const documented = rows.map(([ids = '', medium = '', text = '']) => [ids, medium, text]);
    const expected = documented.map(([ids = '', medium = '']) => {
      const [first = ''] = [...ids.matchAll(/`([^`]+)`/g)].map(([, id = '']) => id);
      return [ids, medium, textOf(limitsOf({ upstreamModel: first }).inputs?.[medium as Medium] ?? {})];
    });

    expect(documented).toEqual(expected);
  });

  test('has every known limit on files', () => {
    const listed = rows.flatMap(([ids = '', medium = '']) =>
      [...ids.matchAll(/`([^`]+)`/g)].map(([, id = '']) => `${id} ${medium}`),
    );

    expect(listed.toSorted()).toEqual(
      [...new Set(CASES.map(([id, medium]) => `${id} ${medium}`))].toSorted(),
    );
  });
});

/** The limits in the words of the table. */
const textOf = ({ types = [], alpha, ...limits }: FileLimits): string => {
  const { maxBytes = 0, minSide, maxSide, maxPixels, maxRatio, minSeconds, maxSeconds } = limits;
  const { maxTotalSeconds, minFramesPerSecond } = limits;
  const figure = (value = 0) => value.toLocaleString('en');
  const sides =
    minSide &&
    (maxSide
      ? `sides of ${figure(minSide)} to ${figure(maxSide)} pixels`
      : `sides of ${minSide} pixels or more`);
  const parts = [
    types
      .map((type) => (type === 'image/png' && alpha === false ? 'PNG without alpha' : typeName(type)))
      .join(', '),
    sides,
    maxPixels && `${figure(maxPixels)} pixels`,
    maxRatio && `ratio 1:${maxRatio} to ${maxRatio}:1`,
    minSeconds && maxSeconds && `${minSeconds} to ${maxSeconds} s`,
    maxTotalSeconds && `${maxTotalSeconds} s together`,
    minFramesPerSecond && `${minFramesPerSecond} frames a second or more`,
    maxBytes && `${maxBytes / MEGABYTE} MB`,
  ];
  return parts.filter(Boolean).join('; ');
};
