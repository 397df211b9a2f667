import { describe, expect, test } from '@jest/globals';
import { MAX_PROMPT_CHARACTERS } from '../../../core/creation/creation-fields.ts';
import { findImageModel, findVideoModel } from '../../../core/models/catalog.ts';
import { METRIC } from '../../../core/observability.ts';
import { type LimitedRoute, limitsOf } from '../../../core/provider-calls/upstream-limits.ts';
import { StackContext } from '../../../lib/context.ts';
import { codeIn, readDocument, tableRows } from './documents.ts';

const document = readDocument('docs/configuring.md');

/** The default of each context key as the document writes it; undefined where it is described in words. Keys may share a row. */
const documented = Object.fromEntries(
  tableRows(document, 'context key').flatMap(([keys = '', value = '']) =>
    keys.split(', ').map((key) => [codeIn(key), value.startsWith('`') ? codeIn(value) : undefined]),
  ),
);

describe('the guide to configuring', () => {
  test('has every context key with its default', () => {
    const defaults = Object.entries(StackContext.shape).map(([key, schema]) => {
      const { success, data } = schema.safeParse(undefined);
      const value = Array.isArray(data) && data.length === 0 ? '[]' : String(data);
      return [key, success && data !== undefined ? value : undefined];
    });

    expect(documented).toStrictEqual(Object.fromEntries(defaults));
  });

  test('has what each route takes, where that is not what the catalog offers', () => {
    const { context } = JSON.parse(readDocument('cdk.json')) as {
      context: { modelRoutes: Record<string, LimitedRoute> };
    };
    const declared = Object.entries(context.modelRoutes).flatMap(([model, route]) =>
      // Those of input files have a table of their own.
      Object.entries({ ...limitsOf(route), inputs: [] as string[] }).flatMap(([limit, value]) =>
        // Parameters are in the reference of the API, by model.
        limit === 'inputs' || limit === 'parameters'
          ? []
          : [
              [
                model,
                route.upstreamModel,
                limit,
                limit === 'workspaceHost' ? "a workspace's host" : [value].flat().join(', '),
              ],
            ],
      ),
    );
    const rows = tableRows(document, 'model', 'upstream', 'limit', 'upstream takes', 'catalog offers');
    const documented = rows
      .filter(([, , limit]) => limit?.startsWith('`'))
      .map(([model, upstream, limit, takes]) => [codeIn(model), codeIn(upstream), codeIn(limit), takes]);
    const routes = rows.flatMap(([models = '', upstreams = '']) => {
      const ids = models.split(', ').map(codeIn);
      return upstreams.split(', ').map((upstream, index) => [ids[index], codeIn(upstream)]);
    });

    expect(documented.toSorted()).toEqual(declared.toSorted());
    for (const [model = '', upstream] of routes)
      expect(context.modelRoutes[model]?.upstreamModel).toBe(upstream);
  });

  test('says what the catalog offers beside it', () => {
    const rows = tableRows(document, 'model', 'upstream', 'limit', 'upstream takes', 'catalog offers');
    const offered = Object.fromEntries(rows.map(([, , limit, , offers]) => [codeIn(limit), offers]));
    const { minTotalPixels, maxTotalPixels } = findImageModel('xZI1.0Pro')?.explicitSize ?? {};
    const { resolutions, maxCombinedSeconds = 0, durationSec } = findVideoModel('xW3.0s') ?? {};

    expect(offered).toMatchObject({
      minPixels: String(minTotalPixels),
      maxPixels: String(maxTotalPixels),
      promptCharacters: String(MAX_PROMPT_CHARACTERS),
      resolutions: resolutions?.join(', '),
      referenceVideosSeconds: String(maxCombinedSeconds - (durationSec?.min ?? 0)),
    });
  });
});

test('The guide to alarms has every metric', () => {
  const guide = readDocument('docs/alarms.md');

  expect(Object.values(METRIC).filter((metric) => !guide.includes(`\`${metric}\``))).toEqual([]);
});

test('The guide says what the reconciler costs as the benchmark measured it', () => {
  const { costs } = JSON.parse(readDocument('bench/results.json')) as {
    costs: { results: { name: string; value: number }[] };
  };
  const dollars = (name: string): string => {
    const found = costs.results.find((result) => result.name === `reconciler, ${name}`);
    return `$${found?.value.toFixed(2)}`;
  };
  const [idle, busy] = [dollars('idle: total'), dollars('work open all the time: total')];
  const guide = readDocument('docs/configuring.md');
  const row = tableRows(guide, 'part').find(([part]) => part === 'reconciler');

  expect(row?.slice(1)).toEqual([`${idle} to ${busy}`, busy]);
  const lambda = dollars('work open all the time: functions');
  expect(guide).toContain(`Of the reconciler's ${busy}, ${lambda} is Lambda`);
  expect(readDocument('docs/decisions.md')).toContain(`[${busy} a month](configuring.md#what-it-costs)`);
});
