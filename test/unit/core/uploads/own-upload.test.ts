import { expect, test } from '@jest/globals';
import { ownerOf } from '../../../../core/uploads/own-inputs.ts';
import { nameUpload, typedHandle, typedUpload } from '../../../../core/uploads/own-upload.ts';
import { UPLOAD_TYPES } from '../../../../core/uploads/upload-rules.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID } from '../../builders/entities.ts';

const bytes = Buffer.from('bytes');
const named = () => nameUpload(bytes, ACCOUNT_ID, NOW);

test('A file that came with a creation is an upload of its account, each under a name of its own', () => {
  const { objectKey } = named();

  expect(objectKey).toMatch(new RegExp(`^uploads/${ownerOf(ACCOUNT_ID)}/upl_[0-9A-Z]{26}\\.png$`));
  expect(named().objectKey).not.toBe(objectKey);
});

test.each(Object.entries(UPLOAD_TYPES))(
  'It has the extension and the type of what is measured: %s',
  (contentType, { extension }) => {
    const upload = named();
    const handle = typedHandle(upload.objectKey, contentType);

    expect(handle).toBe(upload.objectKey.replace(/png$/, extension));
    expect(typedUpload(upload, ['https://a.example/1.png', named().objectKey, handle])).toEqual({
      ...{ bytes, objectKey: handle, contentType },
    });
  },
);

test.each(['image/avif', 'video/webm', 'constructor', ''])(
  'It keeps its extension where it is of a type that no upload has: %s',
  (contentType) => {
    const { objectKey } = named();

    expect(typedHandle(objectKey, contentType)).toBe(objectKey);
  },
);

test('A file that no field of the request names keeps its name', () => {
  const upload = named();

  expect(typedUpload(upload, [named().objectKey])).toEqual({ ...upload, contentType: 'image/png' });
  const other = { bytes, objectKey: 'uploads/x/upl_1.exe' };
  expect(typedUpload(other, [])).toEqual({ ...other, contentType: 'application/octet-stream' });
});
