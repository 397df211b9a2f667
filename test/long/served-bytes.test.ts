import { beforeAll, describe, expect, test } from '@jest/globals';
import { itemsNaming } from '../contract/support/aws.ts';
import type { AnyRecord } from '../contract/support/client.ts';
import { fetchFile } from '../contract/support/files.ts';
import { succeeded } from '../contract/support/resources.ts';
import { useCaller } from '../contract/support/use-caller.ts';
import { finishedVideo } from '../contract/support/videos.ts';

const caller = useCaller();
const records = new Map<string, AnyRecord>();
beforeAll(async () => {
  const made = await Promise.all([
    succeeded(caller, { model: 'xSD4.5', size: '2K' }),
    succeeded(caller, { model: 'xQI3Pro', size: '1K' }),
    finishedVideo(caller, { model: 'xW2.7S', resolution: '720p', durationSec: 2 }),
  ]);
  for (const record of made) records.set(record.model ?? '', record as AnyRecord);
});

/** The URL at the provider of the only output of a request, by what the table remembers of its call. */
const urlAtProvider = async (requestId: string): Promise<string> => {
  const urls = (await itemsNaming(caller.service, requestId)).flatMap((item) => {
    const { outcome } = JSON.parse(item) as { outcome?: { outputs?: { url?: string }[] } };
    return outcome?.outputs?.flatMap(({ url = [] }) => url) ?? [];
  });
  expect(urls).toHaveLength(1);
  return urls[0] ?? '';
};

describe.each(['xSD4.5', 'xQI3Pro', 'xW2.7S'])('An output of %s', (model) => {
  const recordOf = () => records.get(model) ?? { requestId: '', status: 'missing' };
  const signedUrl = () => {
    const { images, videos } = recordOf() as AnyRecord & { videos?: { url?: string }[] };
    return (images ?? videos)?.[0]?.url ?? '';
  };

  test('is served by its signed URL byte for byte as its provider made it', async () => {
    const served = await fetchFile(signedUrl());
    const { bytes } = await fetchFile(await urlAtProvider(recordOf().requestId));

    expect(served.status).toBe(200);
    expect(served.bytes.length).toBeGreaterThan(1_000);
    expect(served.bytes.equals(bytes)).toBe(true);
  });

  test('is served in ranges that together are the whole', async () => {
    const { bytes } = await fetchFile(signedUrl());
    const middle = bytes.length >> 1;
    const parts = await Promise.all(
      [`bytes=0-${middle - 1}`, `bytes=${middle}-`].map(async (range) => {
        const response = await fetch(signedUrl(), { headers: { range } });
        expect(response.status).toBe(206);
        return Buffer.from(await response.arrayBuffer());
      }),
    );

    expect(Buffer.concat(parts).equals(bytes)).toBe(true);
  });
});
