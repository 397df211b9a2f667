import { expect, test } from '@jest/globals';
import { possibleFilesOf } from '../../../../core/files/request-files.ts';
import { clipObjectKey } from '../../../../core/object-keys.ts';
import { aVideoRequest, VIDEO_ID } from '../../builders/entities.ts';

test('the files of a request include copies of its reference videos in every container', () => {
  const request = aVideoRequest({
    clips: [clipObjectKey(VIDEO_ID, 0, 'mp4'), clipObjectKey(VIDEO_ID, 1, 'webm')],
  });

  const files = possibleFilesOf(request);

  for (const extension of ['mp4', 'mov', 'webm', 'mkv'])
    for (const index of [0, 1]) expect(files).toContain(clipObjectKey(request.requestId, index, extension));
});
