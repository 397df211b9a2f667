import { markdownTable } from './publish.ts';
import type { Part, Result } from './results.ts';

const figure = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 3 : 0 });

/** A value, and its budget after a slash; bold when it misses it. */
const cell = ({ value, budget, ok }: Result): string => {
  const text = budget === null ? figure(value) : `${figure(value)} / ${figure(budget)}`;
  return ok ? text : `**${text}**`;
};

const isBudgeted = (result: Result | undefined): boolean => result !== undefined && result.budget !== null;

/** A measure with its unit, unless it names the unit. */
const withUnit = (measure: string, unit: string): string =>
  measure.replaceAll(',', '').split(' ').includes(unit) ? measure : `${measure}, ${unit}`;

/** Figures of one scene by measure and unit. A figure's name is `scene: measure`. */
type Scene = Map<string, Result>;

const scenesOf = (results: readonly Result[]): Map<string, Scene> => {
  const scenes = new Map<string, Scene>();
  for (const result of results) {
    const [scene = '', measure] = result.name.split(': ');
    if (measure === undefined) continue;
    const figures: Scene = scenes.get(scene) ?? new Map();
    scenes.set(scene, figures.set(withUnit(measure, result.unit), result));
  }
  return scenes;
};

/** Scenes that share a measure belong in one table. */
const groupsOf = (scenes: Map<string, Scene>): Map<string, Scene>[] => {
  const groups: Map<string, Scene>[] = [];
  for (const [name, scene] of scenes) {
    const group = groups.find((others) =>
      [...others.values()].some((other) => [...scene.keys()].some((key) => other.has(key))),
    );
    if (group) group.set(name, scene);
    else groups.push(new Map([[name, scene]]));
  }
  return groups.filter(({ size }) => size > 1);
};

/** A table with a column for each scene, and a row for each measure that has a budget in one of them. */
const tableOfScenes = (group: Map<string, Scene>): string => {
  const scenes = [...group.values()];
  const measures = new Set(scenes.flatMap((scene) => [...scene.keys()]));
  const rows = [...measures]
    .filter((key) => scenes.some((scene) => isBudgeted(scene.get(key))))
    .map((key) => [
      key,
      ...scenes.map((scene) => {
        const result = scene.get(key);
        return result ? cell(result) : '';
      }),
    ]);
  return markdownTable(['measure', ...group.keys()], rows, ['measure']);
};

/** The figures that miss their budgets, each with its value and budget. */
export const missedIn = (results: readonly Result[]): string[] =>
  results.flatMap(({ name, value, unit, budget, ok }) =>
    ok ? [] : [`${name}: ${figure(value)} ${unit}, budget ${budget}`],
  );

/** A part of `docs/performance.md`: its title, its note and its figures with a budget, with scenes side by side. */
export const reportOf = ({ title, note, results }: Part): string => {
  const groups = groupsOf(scenesOf(results));
  const rest = results.filter(
    (result) => isBudgeted(result) && !groups.some((group) => group.has(result.name.split(': ')[0] ?? '')),
  );
  const rows = rest.map((result) => [withUnit(result.name, result.unit), cell(result)]);
  const others = rest.length > 0 ? [markdownTable(['measure', 'now'], rows, ['measure'])] : [];
  return [`### ${title}`, note, ...groups.map(tableOfScenes), ...others].join('\n\n');
};
