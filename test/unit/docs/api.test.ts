import { describe, expect, test } from '@jest/globals';
import { ERROR_STATUS } from '../../../core/errors.ts';
import { CATALOG, type ImageModel, type VideoModel } from '../../../core/models/catalog.ts';
import { type EndpointName, ROUTES, routeText } from '../../../core/routes.ts';
import { codeIn, readDocument, tableRows } from './documents.ts';

const document = readDocument('docs/api.md');
const yesOrNo = (value: boolean): string => (value ? 'yes' : 'no');
const defaultFirst = (byDefault: string, all: readonly string[]): string =>
  [byDefault, ...all.filter((one) => one !== byDefault)].join(', ');

describe('the API document', () => {
  test('has every route of the callers', () => {
    const names = (Object.keys(ROUTES) as EndpointName[]).filter((name) => name !== 'receive-callback');

    expect(
      tableRows(document, 'route')
        .map(([route]) => codeIn(route))
        .sort(),
    ).toEqual(names.map(routeText).sort());
    expect(document).toContain(routeText('receive-callback'));
  });

  test('has every error code with its status', () => {
    const rows = tableRows(document, 'code', 'status').map(([code, status]) => [
      codeIn(code),
      Number(status),
    ]);

    expect(Object.fromEntries(rows)).toEqual(ERROR_STATUS);
  });

  test('has every image model with its limits', () => {
    const models = CATALOG.filter((model): model is ImageModel => model.type === 'image');

    expect(tableRows(document, 'image model')).toEqual(
      models.map((model) => [
        model.id,
        defaultFirst(model.defaultSize, model.sizePresets),
        String(model.maxReferences),
        String(model.maxImagesPerRequest),
        yesOrNo(model.capabilities.sequential),
      ]),
    );
  });

  test('has every video model with its limits', () => {
    const models = CATALOG.filter((model): model is VideoModel => model.type === 'video');

    expect(tableRows(document, 'video model')).toEqual(
      models.map((model) => [
        model.id,
        defaultFirst(model.defaultResolution, model.resolutions),
        `${model.durationSec.min} to ${model.durationSec.max}`,
        model.requiresImage ? 'required' : 'optional',
        yesOrNo((model.maxReferenceImages ?? 0) > 0),
      ]),
    );
  });
});
