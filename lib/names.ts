/** The construct id of a kebab-case name: a function, its file and its construct share one stem. */
export const pascalCase = (kebab: string): string =>
  kebab.replace(/(^|-)(\w)/g, (_match, _dash, letter: string) => letter.toUpperCase());
