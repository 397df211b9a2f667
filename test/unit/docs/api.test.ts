import { describe, expect, test } from '@jest/globals';
import { ERROR_STATUS } from '../../../core/errors.ts';
import { CATALOG, type ImageModel, type VideoModel } from '../../../core/models/catalog.ts';
import { type EndpointName, ROUTES, routeText } from '../../../core/routes.ts';
import { OPERATIONS } from '../../../functions/openapi/operations.ts';
import { examplesIn } from './api-examples.ts';
import { codeIn, readDocument, tableRows } from './documents.ts';

/** The method of the client for each route. */
const CLIENT_METHODS = Object.entries(OPERATIONS).map(
  ([name, { client }]) => [name as EndpointName, client.replace(/\(.*/s, '')] as const,
);

const document = readDocument('docs/api.md');
const yesOrNo = (value: boolean): string => (value ? 'yes' : 'no');
const defaultFirst = (byDefault: string, all: readonly string[]): string =>
  [byDefault, ...all.filter((one) => one !== byDefault)].join(', ');

const parametersOf = ({ parameters = [] }: ImageModel | VideoModel): string =>
  parameters.map(({ name }) => `\`${name}\``).join(', ');

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

  describe('shows in curl, TypeScript and Python, which test/long/api-document.test.ts runs,', () => {
    const [shell, typeScript, python] = (['sh', 'ts', 'python'] as const).map((language) =>
      examplesIn(language).join('\n'),
    );

    test.each(CLIENT_METHODS)('%s', (name, method) => {
      const { method: verb, path } = ROUTES[name];
      const given = path.replace('{requestId}', '(img_…|vid_…)').replace('{email}', 'ada%40example\\.com');
      const flag = ['DELETE', 'PUT'].includes(verb) ? `-X ${verb} ` : '';
      const called = path.replace('/{requestId}', '/" \\+').replace('{email}', 'ada%40example\\.com');

      expect(shell).toMatch(new RegExp(`curl [^\n]*${flag}"?\\$GENERATION_BASE_URL${given}[" ?]`));
      expect(typeScript).toContain(`client.${method}(`);
      const waits =
        verb === 'GET' && path.includes('{requestId}') ? 'wait_for\\("' : `call\\(\\s*"${verb}",\\s*"`;
      expect(python).toMatch(new RegExp(waits + called));
    });

    test('every route of the callers', () => {
      expect(CLIENT_METHODS).toHaveLength(Object.keys(ROUTES).length - 1);
    });
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
        parametersOf(model),
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
        parametersOf(model),
      ]),
    );
  });
});
