import '../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import type { ImageRequest } from '../../../core/requests.ts';
import { planArkImages } from '../../../providers/modelark/images.ts';
import { planModelStudioImages } from '../../../providers/modelstudio/images.ts';
import { references } from '../builders/bodies.ts';
import { anImageRequest } from '../builders/entities.ts';

describe('a call to ModelArk', () => {
  const plan = (request: Partial<ImageRequest>) => planArkImages(anImageRequest(request), 'seedream-4-5');

  test('asks for one image, unmarked, by URL', () => {
    expect(plan({ prompt: 'a lighthouse', size: '2K' })).toStrictEqual({
      mode: 'synchronous',
      calls: [
        {
          path: '/images/generations',
          headers: {},
          body: {
            model: 'seedream-4-5',
            prompt: 'a lighthouse',
            size: '2K',
            response_format: 'url',
            watermark: false,
          },
        },
      ],
    });
  });

  test('is made once for each of several images, as there is no count upstream', () => {
    const { calls } = plan({ images: 4 });

    expect(calls).toHaveLength(4);
    expect(new Set(calls.map((call) => JSON.stringify(call))).size).toBe(1);
    expect(calls[0]?.body).not.toHaveProperty('n');
  });

  test.each([1, 2, 10])('carries its %p references', (count) => {
    expect(plan({ references: references(count) }).calls[0]?.body.image).toEqual(references(count));
  });

  test('of a sequence is one, and says how many images it may yield', () => {
    const { calls } = plan({ sequential: true, images: 7 });

    expect(calls).toHaveLength(1);
    expect(calls[0]?.body).toMatchObject({
      sequential_image_generation: 'auto',
      sequential_image_generation_options: { max_images: 7 },
    });
  });

  test.each<[string, ImageRequest['aspectRatio'], string]>([
    ['2K', 'auto', '2K'],
    ['1.5K', 'auto', '1.5K'],
    ['4K', 'auto', '4K'],
    ['2K', 'square', '2048x2048'],
    ['2K', 'landscape', '2560x1440'],
    ['1K', 'portrait', '720x1280'],
    ['1600x900', 'auto', '1600x900'],
  ])(
    'of size %s and ratio %s says %s: a token leaves the ratio to the provider',
    (size, aspectRatio, text) => {
      expect(plan({ size, aspectRatio }).calls[0]?.body.size).toBe(text);
    },
  );
});

describe('a call to Model Studio', () => {
  const plan = (upstreamModel: string, request: Partial<ImageRequest> = {}) =>
    planModelStudioImages(anImageRequest(request), upstreamModel);

  test('for Qwen-Image creates a task for all images at once, unmarked', () => {
    const request = { prompt: 'a lighthouse', size: '1.5K', images: 6, references: references(2) };

    expect(plan('qwen-image-3.0-pro', request)).toStrictEqual({
      mode: 'asynchronous',
      calls: [
        {
          path: '/api/v1/services/aigc/image-generation/generation',
          headers: { 'x-dashscope-async': 'enable' },
          body: {
            model: 'qwen-image-3.0-pro',
            input: {
              messages: [
                {
                  role: 'user',
                  content: [
                    { image: 'https://images.example.com/0.png' },
                    { image: 'https://images.example.com/1.png' },
                    { text: 'a lighthouse' },
                  ],
                },
              ],
            },
            parameters: { size: '1536*1536', n: 6, watermark: false },
          },
        },
      ],
    });
  });

  test('for Z-Image is answered in the call: no task header, no count', () => {
    expect(plan('z-image-turbo', { prompt: 'a lighthouse' })).toStrictEqual({
      mode: 'synchronous',
      calls: [
        {
          path: '/api/v1/services/aigc/multimodal-generation/generation',
          headers: {},
          body: {
            model: 'z-image-turbo',
            input: { messages: [{ role: 'user', content: [{ text: 'a lighthouse' }] }] },
            parameters: { size: '1024*1024' },
          },
        },
      ],
    });
  });

  test.each<[string, ImageRequest['aspectRatio'], string]>([
    ['1K', 'auto', '1024*1024'],
    ['2K', 'square', '2048*2048'],
    ['1.5K', 'landscape', '1920*1080'],
    ['2K', 'portrait', '1440*2560'],
    ['1600x900', 'auto', '1600*900'],
  ])('of size %s and ratio %s always says %s', (size, aspectRatio, text) => {
    expect(plan('qwen-image', { size, aspectRatio }).calls[0]?.body.parameters).toMatchObject({ size: text });
  });
});
