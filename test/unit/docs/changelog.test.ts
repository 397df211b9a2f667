import { describe, expect, test } from '@jest/globals';
import { VERSION } from '../../../lib/release.ts';
import { readDocument } from './documents.ts';

interface Section {
  version: string;
  text: string;
}

const SECTIONS: Section[] = readDocument('CHANGELOG.md')
  .split(/^## /m)
  .slice(1)
  .map((text) => ({ version: /^\[([^\]]+)\]/.exec(text)?.[1] ?? text, text }));
const RELEASES = SECTIONS.filter(({ version }) => version !== 'Unreleased');
const [NEWEST = ''] = RELEASES.map(({ version }) => version);

/** The lines under a heading of a section. Throws when it is not there. */
const under = ({ version, text }: Section, heading: string): string[] => {
  const [, after] = text.split(`\n### ${heading}\n`);
  if (after === undefined) throw new Error(`${version} has no "${heading}".`);
  return (after.split(/^###/m)[0] ?? '').split('\n').filter((line) => line.trim() !== '');
};

/** Negative when `a` is the earlier version. Not for versions with `-dev`. */
const compare = (a: string, b: string): number => {
  const [one, other] = [a, b].map((version) => version.split('.').map(Number));
  const differences = (one ?? []).map((part, index) => part - (other?.[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
};

describe.each(SECTIONS)('the changelog of $version', (section) => {
  test.each(['Before the upgrade', 'Going back'])('says something under "%s"', (heading) => {
    expect(under(section, heading)).not.toEqual([]);
  });
});

test('releases have versions with dates, newest first', () => {
  for (const { text } of RELEASES) expect(text).toMatch(/^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d\n/);
  const versions = RELEASES.map(({ version }) => version);

  expect(versions.length).toBeGreaterThan(0);
  expect(versions).toEqual(versions.toSorted(compare).toReversed());
});

test('the package has the version of the newest release, or a later one with -dev while there are unreleased changes', () => {
  if (SECTIONS[0]?.version === 'Unreleased') {
    expect(VERSION).toMatch(/^\d+\.\d+\.\d+-dev$/);
    expect(compare(VERSION.replace('-dev', ''), NEWEST)).toBeGreaterThan(0);
  } else {
    expect(VERSION).toBe(NEWEST);
  }
});

test('all packages of the project have one version', () => {
  for (const name of ['client', 'local-aws', 'media', 'sandbox']) {
    expect(JSON.parse(readDocument(`packages/${name}/package.json`)).version).toBe(VERSION);
  }
});
